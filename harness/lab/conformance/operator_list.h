// The operators that one call of a reference dispatches, as a list to compare with upstream's.
#pragma once

#include "base/result/files.h"
#include "kb/task.h"

namespace kb {

/// The operators below autograd of one call with example inputs, in their order: each with its name
/// and its arguments by name. Tensors are shapes and types, but a number that stands for a tensor
/// is a number. Where elements lie (device, layout, memory format) is not said. Operators that only
/// give their argument another form are marked: "view": true.
Json list_operators(const Task& task, const SizeBytes& sizes);

}  // namespace kb
