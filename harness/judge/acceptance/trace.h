// The operators that a reference calls, as LibTorch's dispatcher sees them, and which of them its
// outputs need.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <functional>
#include <set>
#include <vector>

namespace kb {

/// Stands in the dispatcher's place.
class Tracer {
 public:
  virtual ~Tracer() = default;
  /// Whether the parts of a composite operator are traced in its place.
  virtual bool opens(const c10::OperatorHandle& op) = 0;
  /// An operator whose arguments are on top of the stack. Puts its results in their place, as
  /// op.callBoxed(stack) does; what the operator calls itself is not traced.
  virtual void call(const c10::OperatorHandle& op, torch::jit::Stack& stack) = 0;
};

/// Whether an operator is nothing but calls of others, on every device.
bool is_composite(const c10::OperatorHandle& op);

/// Runs it with the operators that this thread calls going through the tracer. Traces do not nest.
void trace(Tracer& tracer, const std::function<void()>& run);

/// What calls read and write, to find those that outputs need. Tensors that share memory are one;
/// none is kept alive.
class DataFlow {
 public:
  /// Calls an operator as op.callBoxed(stack) does, and notes it as the next one.
  void call(const c10::OperatorHandle& op, torch::jit::Stack& stack);
  /// For each call, in order, whether one of these depends on it.
  std::vector<bool> needed_by(const std::vector<at::Tensor>& outputs) const;

 private:
  using Memory = const c10::StorageImpl*;
  struct Call {
    std::vector<Memory> reads, writes;
  };
  void note(const c10::IValue& value, std::vector<Memory>& memory);

  std::vector<Call> calls_;
  // Addresses are not given to other tensors meanwhile.
  std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>> known_;
  std::set<Memory> noted_;
};

}  // namespace kb
