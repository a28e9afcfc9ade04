// A task at one set of sizes: shared tensors for the runner, private copies of what must not
// change.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "judge/acceptance/mixes.h"
#include "judge/session/buffers.h"
#include "judge/session/runner_session.h"
#include "kb/task.h"

namespace kb {

/// Bit for bit, so that NaN equals itself.
bool same_bits(const at::Tensor& a, const at::Tensor& b);

class Workload {
 public:
  /// Allocates everything for `slots` independent calls.
  Workload(const Task& task, const SizeBytes& sizes, int64_t slots, SharedMemory& memory);

  int64_t slots() const { return slots_; }
  void bind(RunnerSession& runner) const;
  /// New values for all weights; prepare() must run again.
  void refill_weights(InputKind kind, at::Generator& rng);
  /// Multiplies weights of real numbers; prepare() must run again.
  void scale_weights(double factor);
  /// New inputs for one slot, where the runners do not see them yet.
  void draw_slot(int64_t slot, InputKind kind, at::Generator& rng);
  /// The same with values of these families where a tensor takes them.
  void draw_slot(int64_t slot, const Mix& mix, at::Generator& rng);
  /// Gives some elements of each input values of other elements of it, from one to `most`, and
  /// brings them to the runners, with poisoned outputs. Leaves inputs alone whose values depend on
  /// their place. @return whether there are others
  bool change_few_inputs(int64_t slot, int64_t most, at::Generator& rng);
  /// The same of weights; prepare() must run again, and outputs are not poisoned.
  bool change_few_weights(int64_t most, at::Generator& rng);
  /// Brings a slot's inputs to the runners, with a poisoned output.
  void publish_slot(int64_t slot);
  /// Both.
  void refill_slot(int64_t slot, InputKind kind, at::Generator& rng);
  void refill_slot(int64_t slot, const Family& family, at::Generator& rng);
  void refill_slot(int64_t slot, const Mix& mix, at::Generator& rng);
  /// Outputs that nothing has been written to.
  void poison(int64_t slot);

  /// These inputs and weights, in reference()'s order, and poisoned outputs; prepare() must run
  /// again.
  void assign(int64_t slot, const std::vector<at::Tensor>& given);

  /// Private copies of inputs and weights, in reference()'s order.
  std::vector<at::Tensor> arguments(int64_t slot) const;
  /// A private copy of a slot's outputs as they are now.
  std::vector<at::Tensor> snapshot(int64_t slot) const;
  const std::vector<TensorSpec>& outputs() const { return output_specs_; }
  /// The private input called `name`.
  const at::Tensor& input(const std::string& name, int64_t slot) const;

  /// Output `index` of a slot as it is now, in shared memory.
  at::Tensor output(int64_t slot, size_t index) const;

  /// Random places in the outputs of neighbouring slots, one tensor per output.
  std::vector<at::Tensor> output_places(int64_t first, int64_t slots, at::Generator& rng) const;
  /// What the outputs hold there now, without waiting for the device.
  std::vector<at::Tensor> outputs_at(const std::vector<at::Tensor>& places) const;
  /// Gives a few elements of each input, in one of some neighbouring slots, values of others,
  /// before they are published. @return what gives them back their own, the runners' copies
  /// included
  std::function<void()> hold_back_inputs(int64_t first, int64_t slots, at::Generator& rng);

  /// @throws Decided if an input or a weight was written to
  void check_inputs(const std::string& set) const;
  /// @throws Decided if an output of a slot that was not called is no longer poisoned
  void check_untouched(int64_t slot) const;
  /// @throws Decided if something was written outside a tensor
  void check_guards(const std::string& set) const;

 private:
  struct Slots {
    std::unique_ptr<SharedTensor> shared;
    std::vector<at::Tensor> originals;  ///< one per slot; empty for outputs
  };
  static void change_few(Slots& tensor, int64_t slot, int64_t count, at::Generator& rng);
  static void draw(Slots& tensor, int64_t slot, InputKind kind, at::Generator& rng);
  static void publish(Slots& tensor, int64_t slot);

  const Task& task_;
  SizeBytes sizes_;
  int64_t slots_;
  std::vector<Slots> inputs_, weights_, outputs_;
  std::vector<TensorSpec> output_specs_;
};

}  // namespace kb
