// Weights out of a checkpoint, in the place of those that are drawn.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result/files.h"
#include "kb/task.h"

namespace kb {

/// A task some of whose sets of sizes have the weights of a file.
struct GivenWeights {
  Task task;
  std::string sha256;             ///< of the file
  std::vector<std::string> sets;  ///< of smoke, odd and full: those with the file's weights
};

/// Takes weights by upstream's names, also without their first part, which checkpoints of a model
/// without its head leave out (`wte.weight` for `transformer.wte.weight`). Integers stay integers;
/// floating types are converted. A set whose shapes are not those of the file keeps drawn weights.
/// @param file  safetensors
/// @throws std::runtime_error if it is no such file, or fits no set: names what full sizes lack
GivenWeights with_weights(Task task, const std::filesystem::path& file);

/// For results: the file's hash and the sets that have its weights; null if none was given.
Json to_json(const GivenWeights& weights);

}  // namespace kb
