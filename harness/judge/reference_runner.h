// The baseline's runner: the task's LibTorch reference behind the same protocol as a candidate, so
// that the protocol's cost is in both arms.
#pragma once

#include "kb/task.h"

namespace kb {

/// Argument by which a task's own program becomes its reference runner.
inline constexpr char serve_reference_flag[] = "--serve-reference";

/// Serves requests until told to quit. Never returns an error: failures travel in the answers.
void serve_reference(const Task& task, const std::string& contract);

}  // namespace kb
