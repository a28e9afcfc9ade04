// How much device memory judging a task takes, and what to do where there is less.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "judge/acceptance/slicing.h"
#include "kb/task.h"

namespace kb {

/// Bytes of device memory that judging one call takes at its peak, the oracle included; an estimate
/// from above for operators that work out of place once.
int64_t peak_bytes(const Task& task, const SizeBytes& sizes);
/// The same with the oracle in slices.
int64_t sliced_peak_bytes(const Task& task, const SizeBytes& sizes, const Slicing& slicing);

/// Bytes of the host's memory that an oracle takes which is computed there.
int64_t host_bytes(const Task& task, const SizeBytes& sizes);
/// Bytes of the host's memory that can be had.
int64_t free_host_bytes();

/// How to compare outputs at these sizes in `available` bytes of device memory. The oracle is
/// sliced where the whole would take more than three quarters, since the estimate does not know how
/// many intermediates an operator has. What cannot be sliced moves to the host's memory, first the
/// other outputs, then the oracle.
/// @throws Decided (skipped, with both numbers) if there is no way
OraclePlan plan_oracle(const Task& task, const SizeBytes& sizes, int64_t available,
                       int64_t host_available = free_host_bytes());

/// The sizes that KB_SIZES chooses in place of a task's `full` ones: `full`, or `<N>g` for GPUs
/// with N GB of memory.
class FullSizes {
 public:
  /// @throws std::invalid_argument if `choice` is neither
  explicit FullSizes(const std::string& choice);

  /// Bytes that judging may take, 0 for no limit: 2 GiB less than the GPU has, for the contexts of
  /// the judge and the runners.
  int64_t budget() const { return budget_; }
  /// The task's `full` sizes, halved until judging them fits the budget: as long as there is more
  /// than one of them, the samples (what the first dimension of the first input counts), then
  /// whatever else is an extent, the largest first. What the reference does not accept to change
  /// alone (it is tried at `smoke` sizes) changes together with all sizes of the same value. Sizes
  /// that fit, and those without an extent, stay as they are.
  SizeBytes of(const Task& task) const;
  /// The task with `full` replaced by of(task).
  Task scaled(const Task& task) const;
  /// What results call these sizes of a task: `full`, or `full@<N>g` if they are not.
  std::string name(const Task& task) const;

 private:
  std::string choice_;
  int64_t budget_ = 0;
};

}  // namespace kb
