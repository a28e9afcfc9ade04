// Running sums of the rows of a tensor.
#pragma once

#include <ATen/ATen.h>

namespace kb {

/// How far sums in floats may be off that one thread forms term after term
/// (loss_of_running_sum()); of longer rows, the losses of their parts together.
/// @param terms  fp64, rows x terms
/// @return fp64, one number for each row, on the device of `terms`
at::Tensor losses_of_running_sums(const at::Tensor& terms);

}  // namespace kb
