// The calls that units make: new inputs before each unit, every output checked after it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "judge/acceptance/expectation.h"
#include "judge/acceptance/mixes.h"
#include "judge/bench/arm.h"
#include "judge/bench/plan.h"
#include "judge/session/workload.h"

namespace kb {

/// Each call of a unit has a slot of its own: own inputs, own poisoned output, so that nothing is
/// found in a cache by repetition. Where memory allows there is one slot more than calls.
class TimedCalls {
 public:
  TimedCalls(const TimedTask& timed, DuelPlan plan, int64_t calls);

  /// Makes room for units of so many calls, with new weights and inputs; bind() comes next.
  void allocate(int64_t calls);
  /// Hands the tensors over to both runners, which prepare for the weights.
  void bind(RunnerSession& reference, RunnerSession& candidate);
  /// What the candidate's prepare() took the first time; none where it has none.
  const std::optional<Preparing>& preparing() const { return preparing_; }
  /// Waits for the judge's own work on the device.
  void settle() const { timed_.memory.finish(); }
  int64_t per_unit() const { return calls_; }
  int64_t slots() const { return work_->slots(); }
  bool are_checked() const { return !plan_.control; }
  /// The most calls that a unit may have here.
  int64_t most_per_unit() const;

  /// Draws inputs for these calls where the runners do not see them yet.
  void draw(SlotRange called);
  /// The same, but one of them gets values of the task's families.
  void draw_mixed(SlotRange called, std::mt19937_64& choices);
  /// Brings them to the runners and poisons all other slots. The last thing before the first unit
  /// that is to read them, so that nobody can begin earlier. @return seconds
  double publish(SlotRange called);
  /// The same for one slot, when the others are poisoned already.
  void publish_slot(int64_t slot);
  /// Both. @return seconds that publish() took
  double renew(SlotRange called);
  /// Holds some of the drawn inputs back from publish(). @return what gives them to the runners
  std::function<void()> hold_back(SlotRange called);

  /// Computes what the outputs of these calls should be.
  void expect(SlotRange called);
  /// Checks outputs, untouched slots, inputs and guards. @throws Decided
  void verify(SlotRange called);
  void verify_call(int64_t slot);

  /// Chooses some elements of the outputs that the next unit writes.
  void choose_places(SlotRange called);
  /// Reads them as the runner left them, before anything else.
  void read_places();
  /// @throws Decided if they have changed since
  void check_unchanged() const;

 private:
  void verify_output(int64_t slot, size_t output, const at::Tensor& got);
  bool is_right(int64_t slot, size_t output, const at::Tensor& got) const;
  void verify_mixed();
  Expectation expectation(int64_t slot, const FirstRows& first_rows = nullptr);
  [[noreturn]] void refuse(const std::string& what, size_t output, const Comparison& c,
                           const std::string& inputs = "") const;

  TimedTask timed_;
  DuelPlan plan_;
  at::Generator rng_;       ///< of inputs, on the device
  uint64_t noise_seed_;     ///< of the last call that was looked at again
  int64_t most_slots_ = 1;  ///< that memory allows
  int64_t calls_ = 1;       ///< per unit
  bool bound_ = false;
  std::optional<Preparing> preparing_;
  std::unique_ptr<Workload> work_;
  std::vector<std::vector<at::Tensor>> expected_;  ///< [slot][output], by LibTorch
  std::vector<at::Tensor> places_, left_;          ///< in the outputs, and what was there
  int64_t mixed_slot_ = -1;                        ///< whose inputs are of families; none
  Mix mix_;                                        ///< which they are
};

}  // namespace kb
