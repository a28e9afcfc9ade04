// A reference with one of its operators left out: what a fusion may not forget.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <string>
#include <vector>

namespace kb {

using Outputs = std::function<std::vector<at::Tensor>()>;

/// Names of the operators of ATen that `run` calls and that can be left out, in their order: those
/// that give a tensor of the shape and type of their first argument. A name that occurs more than
/// once is numbered: `add`, `add.2`. What operators call themselves is not seen.
std::vector<std::string> stages(const Outputs& run);

/// Runs it with operator `stage`, counted as in stages(), handing on its first argument.
std::vector<at::Tensor> run_without(size_t stage, const Outputs& run);

}  // namespace kb
