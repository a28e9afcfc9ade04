// A reference with one of its operators left out: what a fusion may not forget.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <string>
#include <vector>

namespace kb {

using Outputs = std::function<std::vector<at::Tensor>()>;

/// An operator that can be left out.
struct Stage {
  std::string name;  ///< numbered if it occurs more than once: `add`, `add.2`
  size_t call;       ///< its place among all that are called
};

/// The operators of ATen that `run` calls, its outputs depend on, and that can be left out, in
/// their order: those that give a tensor of the shape and type of their first argument. What
/// operators call themselves is not seen.
std::vector<Stage> stages(const Outputs& run);

/// Runs it with one operator handing on its first argument.
std::vector<at::Tensor> run_without(const Stage& stage, const Outputs& run);

}  // namespace kb
