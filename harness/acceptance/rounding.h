// What tensor cores and sums do to their operands.
#pragma once

#include <ATen/ATen.h>

namespace kb {

/// By how much of itself a value is off at most after one rounding of floats to nearest.
constexpr double float_roundoff = 0x1p-24;

/// How the elements of an input or weight are off when rounding is allowed for: each by up to eight
/// roundings of floats; or all by the same share as well, as a sum is that adds equal values one by
/// one, whose roundings have one direction.
enum class Rounding { each, together };

/// fp32 values rounded to TF32: 10 stored bits of mantissa, to nearest even.
at::Tensor rounded_to_tf32(const at::Tensor& t);

/// Values rounded to bf16, in the tensor's own type.
at::Tensor rounded_to_bf16(const at::Tensor& t);

}  // namespace kb
