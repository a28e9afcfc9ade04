// A boxed fallback under a dispatch key that LibTorch keeps for tests sees every operator.
#include "validity/stages.h"

#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include <map>
#include <optional>

namespace kb {
namespace {

constexpr auto key = c10::DispatchKey::TESTING_ONLY_GenericMode;

// What the fallback does in this thread.
struct Watch {
  std::vector<std::string> names;  // of the operators that can be left out
  std::optional<size_t> left_out;  // the one that is
};
thread_local Watch* watch = nullptr;

std::optional<at::Tensor> first_argument(const c10::OperatorHandle& op,
                                         const torch::jit::Stack& stack) {
  const auto& arguments = op.schema().arguments();
  if (op.schema().returns().size() != 1 || arguments.empty() || op.schema().is_mutable()) {
    return std::nullopt;
  }
  const c10::IValue& first = stack.at(stack.size() - arguments.size());
  if (!first.isTensor() || !first.toTensor().defined()) return std::nullopt;
  return first.toTensor();
}

void pass(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard once(key);  // not what operators call themselves
  const std::optional<at::Tensor> first = first_argument(op, *stack);
  op.callBoxed(stack);
  if (!first || !stack->back().isTensor()) return;
  const at::Tensor& result = stack->back().toTensor();
  if (result.sizes() != first->sizes() || result.scalar_type() != first->scalar_type()) return;
  const std::string name = op.schema().name().substr(std::string("aten::").size());
  if (name == "contiguous" || name == "clone") return;  // where elements lie, not what they are
  watch->names.push_back(name);
  if (watch->left_out == watch->names.size() - 1) stack->back() = *first;
}

std::vector<at::Tensor> run_watched(Watch& what, const Outputs& run) {
  watch = &what;
  const c10::impl::IncludeDispatchKeyGuard seen(key);
  return run();
}

}  // namespace

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&pass>());
}

std::vector<std::string> stages(const Outputs& run) {
  Watch all;
  run_watched(all, run);
  std::map<std::string, int> seen;
  for (std::string& name : all.names) {
    if (const int count = ++seen[name]; count > 1) name += "." + std::to_string(count);
  }
  return all.names;
}

std::vector<at::Tensor> run_without(size_t stage, const Outputs& run) {
  Watch all;
  all.left_out = stage;
  return run_watched(all, run);
}

}  // namespace kb
