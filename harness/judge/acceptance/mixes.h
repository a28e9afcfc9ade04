// Mixes: calls whose samples have values of different families. One call shows them all.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "judge/acceptance/expectation.h"
#include "judge/acceptance/families.h"

namespace kb {

struct Mix {
  std::string name;                  ///< for results
  std::vector<Family> families;      ///< in order; none: the task's own values
  int64_t dimension = 0;             ///< that is divided; of tensors without it, the last one
  std::vector<std::string> divided;  ///< inputs; the others have values of the first family alone
  int64_t samples = 0;  ///< of divided inputs and of outputs, if dimension 0 is divided
  std::string others;   ///< names of inputs that are not divided

  /// Within the range of the input's type.
  void fill(const TensorSpec& input, at::Tensor& out, at::Generator& rng) const;
};

/// Divides a dimension among families. Where there are fewer rows than families, some are missing.
/// Of dimension 0 only samples are divided, so that no sum has values of several families: of
/// inputs with as many rows as an output, and not of a second matrix, which may be the right one of
/// a product. Where there are no such inputs, all values are of the first family.
/// @param families that have a fill
/// @param tensors of the task
Mix divide(const std::vector<Family>& families, int64_t dimension,
           const std::vector<TensorSpec>& tensors);

/// What one family's samples are in an output, or all of them.
struct SampleRange {
  std::string inputs;  ///< what the samples were given, for evidence
  bool whole = true;
  int64_t first = 0, count = 0;  ///< samples, if not whole

  at::Tensor of(const at::Tensor& tensor) const;
  TensorSpec of(TensorSpec spec) const;
};

/// One range per family if the output has the samples of the divided inputs, else the whole output.
std::vector<SampleRange> sample_ranges(const Mix& mix, const TensorSpec& output);

/// Where samples begin that are judged together: the ranges of an output whose samples are numbers.
FirstRows first_rows(const Mix& mix);

/// An output that is wrong in a mix.
struct WrongInMix {
  Wrong wrong;
  std::string inputs;  ///< what the worst element's sample was given
};

/// Compares each output.
/// @param right made with first_rows()
/// @param got of all outputs
std::optional<WrongInMix> judge_mix(Expectation& right, const Mix& mix,
                                    const std::vector<at::Tensor>& got);

}  // namespace kb
