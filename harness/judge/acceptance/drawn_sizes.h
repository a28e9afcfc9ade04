// Sizes that nobody has seen: drawn for each session within what a task accepts.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <string>
#include <vector>

#include "kb/task.h"

namespace kb {

/// From this number of weights on a task is a network. Its layers normalise over samples and
/// pixels, whose number must not shrink, and its calls take long.
inline constexpr size_t weights_of_network = 9;

/// The number of weights that a task's reference reads.
size_t weights_read(const Task& task);

/// Each number of `smoke` drawn anew. Extents get from 1 to four times as many (in networks from as
/// many to twice as many), other integers from half to twice as much (3 and less: up to three
/// more), real numbers the same of their size; flags stay. In networks a few numbers that are no
/// extents change at a time. What the task refuses together changes less. All together have at most
/// four times (networks: three times) the elements and the arithmetic. Nothing if the task accepts
/// no other sizes.
std::optional<SizeBytes> draw_sizes(const Task& task, at::Generator& rng);

}  // namespace kb
