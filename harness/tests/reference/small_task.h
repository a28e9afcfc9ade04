// Tasks made by hand, without files, for tests of what works on any task.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kb/task.h"

namespace kb {

/// The Sizes of a small_task().
struct NoSizes {};

/// A task whose only size set is given by its tensors' shapes.
inline Task small_task(std::vector<TensorSpec> specs,
                       std::function<std::vector<Tensor>(const std::vector<Tensor>&)> reference) {
  Task task;
  task.name = "level1/001_small";
  task.tensors = [specs = std::move(specs)](const SizeBytes&) { return specs; };
  task.reference = [reference = std::move(reference)](const SizeBytes&,
                                                      const std::vector<Tensor>& given) {
    return reference(given);
  };
  return task;
}

}  // namespace kb
