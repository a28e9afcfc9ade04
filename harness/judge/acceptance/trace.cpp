// A boxed fallback under a dispatch key that LibTorch keeps for tests comes before every operator.
#include "judge/acceptance/trace.h"

#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include <algorithm>

namespace kb {
namespace {

constexpr auto key = c10::DispatchKey::TESTING_ONLY_GenericMode;

thread_local Tracer* tracer = nullptr;

void pass(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  if (is_composite(op) && tracer->opens(op)) {
    // Past this key, but with the key still on, so that the parts come here as well.
    op.redispatchBoxed(keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, key), stack);
    return;
  }
  const c10::impl::ExcludeDispatchKeyGuard whole(key);
  tracer->call(op, *stack);
}

}  // namespace

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&pass>());
}

bool is_composite(const c10::OperatorHandle& op) {
  return op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) &&
         !op.hasKernelForDispatchKey(c10::DispatchKey::CPU) &&
         !op.hasKernelForDispatchKey(c10::DispatchKey::CUDA);
}

void trace(Tracer& with, const std::function<void()>& run) {
  struct Ended {
    ~Ended() { tracer = nullptr; }
  } const at_the_end;
  tracer = &with;
  const c10::impl::IncludeDispatchKeyGuard on(key);
  run();
}

void DataFlow::note(const c10::IValue& value, std::vector<Memory>& memory) {
  if (value.isList()) {
    for (const c10::IValue& part : value.toListRef()) note(part, memory);
  } else if (value.isTensor() && value.toTensor().defined() && value.toTensor().has_storage()) {
    const c10::Storage& storage = value.toTensor().storage();
    memory.push_back(storage.unsafeGetStorageImpl());
    if (noted_.insert(memory.back()).second) known_.push_back(storage.getWeakStorageImpl());
  }
}

void DataFlow::call(const c10::OperatorHandle& op, torch::jit::Stack& stack) {
  const auto& arguments = op.schema().arguments();
  const size_t first = stack.size() - arguments.size();
  Call noted;
  for (size_t i = 0; i < arguments.size(); ++i) {
    note(stack[first + i], noted.reads);
    const c10::AliasInfo* alias = arguments[i].alias_info();
    if (alias != nullptr && alias->isWrite()) note(stack[first + i], noted.writes);
  }
  op.callBoxed(&stack);
  for (size_t i = first; i < stack.size(); ++i) note(stack[i], noted.writes);
  calls_.push_back(std::move(noted));
}

std::vector<bool> DataFlow::needed_by(const std::vector<at::Tensor>& outputs) const {
  std::set<Memory> needed;
  for (const at::Tensor& output : outputs) {
    needed.insert(output.storage().unsafeGetStorageImpl());
  }
  std::vector<bool> found(calls_.size());
  for (size_t i = calls_.size(); i-- > 0;) {
    const auto& [reads, writes] = calls_[i];
    found[i] = std::any_of(writes.begin(), writes.end(),
                           [&](Memory memory) { return needed.count(memory) > 0; });
    if (found[i]) needed.insert(reads.begin(), reads.end());
  }
  return found;
}

}  // namespace kb
