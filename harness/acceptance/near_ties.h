// Where roundings alone say which of two results is right.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <vector>

#include "acceptance/expectation.h"
#include "kb/task.h"

namespace kb {

/// A softmax of scores that are far apart takes the largest. Where the two largest are as near as
/// their roundings, right kernels differ by the whole distance of what the two weigh. Few trials of
/// roundings find such a row among thousands by chance only, so it is asked for: by the oracle at
/// inputs and weights that are off by up to 32 roundings of floats along each of their dimensions,
/// and at their mirror image. An element that moves on one side, and not by the opposite on the
/// other, may lie anywhere between. Where it moves in proportion, nothing more is allowed. Of 12
/// rows in which a plain sum of floats took another of 512 scores, in a simulation of 400,000, this
/// found 12.
class NearTies {
 public:
  /// Computes nothing yet.
  NearTies(const Expectation& right, const Task& task, const SizeBytes& sizes, at::Generator& rng)
      : right_(right), task_(task), sizes_(sizes), rng_(rng) {}

  /// Whether a wrong output is right but for elements that roundings decide: few of all. No where
  /// memory is too short to tell.
  /// @param wrong    how `got` compares
  /// @param compare  the same of other values
  bool explain(size_t output, const Comparison& wrong, const at::Tensor& got,
               const std::function<Comparison(const at::Tensor&)>& compare);

 private:
  void find();
  at::Tensor settled(size_t output, const at::Tensor& got) const;

  const Expectation& right_;
  const Task& task_;
  const SizeBytes& sizes_;
  at::Generator& rng_;
  struct Range {
    at::Tensor low, high;  ///< per element, as differences from the oracle; none of integers
  };
  std::vector<Range> between_;  ///< per output
};

}  // namespace kb
