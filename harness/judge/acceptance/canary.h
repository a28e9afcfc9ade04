// Operands for which fp32 sums are exact in any order, and narrower arithmetic is not.
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
/// of 13 significant bits (8 if tensors are of a 16-bit type) and the other operands hold zeros and
/// ones, so that every output is an integer far below 2^24. Rounding an fp32 operand to TF32, fp16
/// or bf16 is off by at least 1 per term; sums of 16-bit operands that are not kept in fp32 are off
/// by more than the one rounding of the output.
/// Zeros, and equal values, of the task's own fills stay zero, and equal: triangular and symmetric
/// operands remain what they are.
class Canary {
 public:
  /// @param given inputs and weights from the task's default fills, in reference()'s order
  /// @return nothing if the reference is no such product, if the contract lets its operands be
  /// rounded, or if LibTorch itself does not keep sums of 16-bit operands in fp32
  static std::optional<Canary> find(const Task& task, const SizeBytes& sizes,
                                    const std::vector<at::Tensor>& given);

  /// One call for each operand.
  size_t calls() const { return factors_.size(); }
  /// Name of the operand that holds the large integers in this call.
  const std::string& operand(size_t call) const { return factors_[call].name; }
  /// What the call shows, in words.
  std::string describe(size_t call) const;
  /// Inputs and weights of a call, in reference()'s order.
  std::vector<at::Tensor> arguments(size_t call) const;
  /// Where among the arguments the large integers of a call are.
  size_t position(size_t call) const { return factors_[call].position; }

 private:
  bool torch_is_exact(const Task& task, const SizeBytes& sizes) const;

  struct Factor {
    std::string name;
    size_t position;
    int halvings;  ///< a share of 2^-halvings of the other operands' elements is 1
  };
  std::vector<at::Tensor> given_;
  int bits_ = 0;  ///< of the odd integers
  std::vector<Factor> factors_;
  std::vector<size_t> added_;  ///< positions of the biases
};

}  // namespace kb
