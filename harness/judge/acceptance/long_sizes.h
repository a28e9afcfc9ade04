// Sizes with one long dimension each: a kernel that gives each element of a row a thread of one
// block has no room for it.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "judge/acceptance/extents.h"
#include "kb/task.h"

namespace kb {

/// More than the threads of a block.
inline constexpr int64_t long_row = 1025;
/// More than four times as many, for loops that take one more turn.
inline constexpr int64_t longer_row = 4097;

/// A judging tries no more of them: level3/003_deep_narrow_mlp has 19 sizes of rows.
inline constexpr size_t most_long_sizes = 8;

struct LongSizes {
  std::string field;  ///< "dim2", or "input_shape[0]" of an array; several at once: "M, N"
  SizeBytes sizes;
};

/// The sizes that a tensor is proportional to and that are no kernel's: rows, columns, pixels,
/// channels, features, but not the number of independent samples. Those that only change together
/// are one group.
std::vector<std::vector<Place>> row_sizes(const Task& task);

/// For each of row_sizes() a value of at least `long_row`, for one that is the innermost dimension
/// of an input or output at least `longer_row`, while the others are as small as `smoke` or
/// smaller. Left out is what the task refuses, and what costs much more than `smoke`.
std::vector<LongSizes> draw_long_sizes(const Task& task, at::Generator& rng);

}  // namespace kb
