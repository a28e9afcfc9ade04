// Kernels that take one number of their Sizes for published, whatever the judge's is: does a call
// with the judge's sizes show it?
#pragma once

#include <set>
#include <string>
#include <vector>

#include "judge/session/runner_session.h"
#include "kb/task.h"

namespace kb {

struct FrozenOptions {
  uint64_t rng_seed = 1;
  int draws = 3;  ///< of sizes, as many as one judging has
  /// More of them, while a field is left that is none of `not_sought`: networks change a few fields
  /// at a time, and a window is shorter than a sequence in some draws only.
  int more_draws = 60;
  std::set<std::string> not_sought;
};

/// What becomes of one field of a task's Sizes: "stride", or "stride[1]" of an array.
struct FrozenField {
  std::string name;
  std::string frozen;     ///< its value in smoke, which the kernel takes for every other
  bool differed = false;  ///< whether any sizes had another value
  std::string shown_by;   ///< the sizes and values of the call that was wrong; empty: none was
};

/// The fields of a task's Sizes, flags included, in the order of declaration.
std::vector<std::string> field_names(const Task& task);

/// For each field a kernel that gets the judge's sizes but for that field, which has the value of
/// smoke, as have the shapes of a network's weights that depend on it. Each is called at drawn
/// sizes, at odd ones and at those of smoke with this field changed alone, with the task's own
/// values; where these show nothing, with those of the families.
/// @param kernel how the shipped kernel is started; it must be right
/// @throws std::runtime_error if it is not
std::vector<FrozenField> check_frozen_fields(const Task& task, const RunnerOptions& kernel,
                                             const FrozenOptions& options);

}  // namespace kb
