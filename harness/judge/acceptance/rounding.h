// What tensor cores do to their operands.
#pragma once

#include <ATen/ATen.h>

namespace kb {

/// fp32 values rounded to TF32: 10 stored bits of mantissa, to nearest even.
at::Tensor rounded_to_tf32(const at::Tensor& t);

/// Values rounded to bf16, in the tensor's own type.
at::Tensor rounded_to_bf16(const at::Tensor& t);

}  // namespace kb
