// A one-pass check of a timed output against LibTorch's result. It only ever says "surely
// right"; where it does not, the full rule decides with a fresh oracle.
#pragma once

#include <ATen/ATen.h>

#include "judge/acceptance/compare.h"

namespace kb {

/// @param got, expected  same shape and type, on one device
/// @return true if `got` is within `tolerance` of `expected` everywhere and as a whole; a row is
/// what has one index in dimension 0, or all of an output with fewer than two dimensions
bool surely_right(const TensorSpec& spec, const at::Tensor& got, const at::Tensor& expected,
                  const Tolerance& tolerance);

}  // namespace kb
