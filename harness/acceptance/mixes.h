// Mixes: calls whose samples have values of different families. One call shows them all, and each
// family's samples are judged by themselves: the values of one would hide the mistakes in another.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "acceptance/expectation.h"
#include "acceptance/families.h"

namespace kb {

struct Mix {
  std::string name;              ///< for results
  Fill fill;                     ///< of each input; none: the task's own values
  std::vector<Family> families;  ///< in order
  bool divides_samples = false;  ///< among the families
};

/// Divides a dimension (a tensor's last one if it has fewer) among the families. Where there are
/// fewer rows than families, some families are missing. One family alone fills everything.
/// @param families that have a fill
Mix in_turn(const std::vector<Family>& families, int64_t dimension);

/// What one family's samples are in an output, or all of them.
struct Share {
  std::string inputs;  ///< what the samples were given, for evidence
  Rounding rounding;   ///< what is allowed for
  bool whole = true;
  int64_t first = 0, count = 0;  ///< samples, if not whole

  at::Tensor of(const at::Tensor& tensor) const;
  TensorSpec of(TensorSpec spec) const;
};

/// Those of an output that has as many samples as an input, else the whole.
/// @param tensors of the task
std::vector<Share> shares_of(const Mix& mix, const TensorSpec& output,
                             const std::vector<TensorSpec>& tensors);

/// What a mix shows.
struct MixJudgement {
  bool holds = false;          ///< whether the library itself is right in some samples
  std::optional<Wrong> wrong;  ///< indices are those of the whole output, numbers of its part
  std::string inputs;          ///< what the wrong samples were given
};

/// Judges each share of each output. What is wrong is compared again with what rounding the inputs
/// costs (Expectation::allow_for_rounding()); where memory is short, small errors are not judged.
/// @param got of all outputs
MixJudgement judge_mix(const Expectation& right, const Mix& mix, const std::vector<at::Tensor>& got,
                       const Task& task, const SizeBytes& sizes, at::Generator& rng);

}  // namespace kb
