// Counts what a task cannot avoid by watching its reference run once.
#pragma once

#include <vector>

#include "base/result/files.h"
#include "judge/timing/speed_of_light.h"
#include "kb/task.h"

namespace kb {

/// Bytes from the declared tensors, multiply-adds from the operators that the reference calls and
/// its outputs depend on, less what launch() does not owe (acceptance/launch_work.h), or less where
/// the task declares it (Task::needing).
/// @param arguments inputs and weights, as for task.reference()
Work count_work(const Task& task, const SizeBytes& sizes, const std::vector<at::Tensor>& arguments);

/// As results have it: {"bytes", "flops"} that a call cannot avoid, "counted_bytes" and
/// "counted_flops" of tensors and reference, and "weights_alone": shares that prepare() may do, and
/// whether that is "most" of the task.
Json work_to_json(const Work& work);

}  // namespace kb
