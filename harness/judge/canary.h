// Operands for which fp32 is exact in any order of summation, and TF32, fp16 and bf16 are not.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <string>
#include <vector>

#include "kb/task.h"

namespace kb {

/// A precision canary of a product: a reference that is linear in each of its floating operands, of
/// which there are two or more (matrix products, convolutions), plus vectors named `...bias`
/// that are added to the result. In each call one operand and the added vectors hold odd integers
/// of 13 significant bits and the other operands hold zeros and ones, so that every output is an
/// integer far below 2^24. Rounding an operand to TF32, fp16 or bf16 is off by at least 1 per term.
/// Zeros, and equal values, of the task's own fills stay zero, and equal: triangular and symmetric
/// operands remain what they are.
class Canary {
 public:
  /// @param given inputs and weights from the task's default fills, in reference()'s order
  /// @return nothing if the reference is no such product, or if the contract lets its operands be
  /// rounded
  static std::optional<Canary> find(const Task& task, const SizeBytes& sizes,
                                    const std::vector<at::Tensor>& given);

  /// One call for each operand.
  size_t calls() const { return factors_.size(); }
  /// Name of the operand that holds the large integers in this call.
  const std::string& operand(size_t call) const { return factors_[call].name; }
  /// Inputs and weights of a call, in reference()'s order.
  std::vector<at::Tensor> arguments(size_t call) const;
  /// Where among the arguments the large integers of a call are.
  size_t position(size_t call) const { return factors_[call].position; }

 private:
  struct Factor {
    std::string name;
    size_t position;
    int halvings;  ///< a share of 2^-halvings of the other operands' elements is 1
  };
  std::vector<at::Tensor> given_;
  std::vector<Factor> factors_;
  std::vector<size_t> added_;  ///< positions of the biases
};

}  // namespace kb
