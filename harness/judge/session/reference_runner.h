// The baseline's runner: the task's LibTorch reference behind the same protocol as a candidate, so
// that the protocol's cost is in both arms.
#pragma once

#include <string>
#include <vector>

#include "judge/session/baseline.h"
#include "kb/task.h"

namespace kb {

/// Argument by which a task's own program becomes its reference runner.
inline constexpr char serve_reference_flag[] = "--serve-reference";

/// The arguments that follow the flag, and back again.
std::vector<std::string> to_arguments(const std::string& contract, const Baseline& baseline);

/// Serves requests until told to quit; failures of requests travel in the answers.
/// @param arguments as made by to_arguments()
/// @throws std::exception if the baseline cannot be prepared
void serve_reference(const Task& task, const std::vector<std::string>& arguments);

}  // namespace kb
