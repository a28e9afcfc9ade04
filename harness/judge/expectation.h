// What is right for one call, by the one rule that candidates and tasks themselves are judged with.
#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "judge/compare.h"
#include "kb/task.h"

namespace kb {

/// Floating tensors in fp64, for the oracle; others as they are.
std::vector<at::Tensor> in_fp64(const std::vector<at::Tensor>& tensors);

/// The inputs and weights of one call, the reference's outputs in their own precision (library) and
/// in fp64 (oracle).
class Expectation {
 public:
  /// @param given inputs and weights in reference()'s order
  Expectation(const Task& task, const SizeBytes& sizes, std::vector<at::Tensor> given);

  const std::vector<TensorSpec>& outputs() const { return outputs_; }
  const std::vector<at::Tensor>& given() const { return given_; }
  const at::Tensor& library(size_t output) const { return library_.at(output); }
  const at::Tensor& oracle(size_t output) const { return oracle_.at(output); }

  /// Compares an output: by the value at its position where it names one, else by tolerance.
  Comparison compare(size_t output, const at::Tensor& got) const;
  /// Compares an output whose exact values are integers.
  Comparison compare_exact(size_t output, const at::Tensor& got) const;

 private:
  std::vector<TensorSpec> inputs_, outputs_;
  std::vector<at::Tensor> given_, library_, oracle_;
};

}  // namespace kb
