// What is right for one call, by the one rule that candidates and tasks themselves are judged with.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "judge/acceptance/compare.h"
#include "judge/acceptance/noise.h"
#include "judge/acceptance/slicing.h"
#include "judge/acceptance/spread.h"
#include "kb/task.h"

namespace kb {

/// Floating tensors in fp64, for the oracle; others as they are.
std::vector<at::Tensor> in_fp64(const std::vector<at::Tensor>& tensors);

/// The tensors in the host's memory if wanted, or as they are.
std::vector<at::Tensor> on_host(std::vector<at::Tensor> tensors, bool wanted);

/// An output that is wrong.
struct Wrong {
  size_t output;
  Comparison comparison;
};

/// Where an output's samples begin, if they are not its rows (Spread).
using FirstRows = std::function<std::vector<int64_t>(const TensorSpec& output)>;

/// The inputs and weights of one call, the reference's outputs in their own precision (LibTorch)
/// and in fp64 (oracle), and how far rounding moves them.
class Expectation {
 public:
  /// @param given inputs and weights in reference()'s order
  /// @param noise_seed of noisy runs, if any is needed
  /// @param plan where memory is short
  Expectation(Task task, SizeBytes sizes, std::vector<at::Tensor> given, uint64_t noise_seed,
              const OraclePlan& plan = {}, const FirstRows& first_rows = nullptr);

  const std::vector<TensorSpec>& outputs() const { return outputs_; }
  const std::vector<at::Tensor>& given() const { return given_; }
  const at::Tensor& torch(size_t output) const { return torch_.at(output); }
  const Oracle& oracle(size_t output) const { return oracle_.at(output); }
  /// All of it, whether it fits or not.
  at::Tensor whole_oracle(size_t output) const;

  /// Compares an output: by the value at its position where it names one, integers for equality,
  /// and others by their spread. What LibTorch's error does not explain is compared again with
  /// the noise of two runs, then four, then eight, and is wrong only if all of these say so; a few
  /// wrong elements also with sixteen and thirty-two. Outputs of gigabytes are looked at again in
  /// some of the slices that hold wrong elements.
  Comparison compare(size_t output, const at::Tensor& got);
  /// Compares an output whose exact values are integers.
  Comparison compare_integers(size_t output, const at::Tensor& got) const;

  /// Whether any element of any output is judged, by what is known so far.
  bool says_something();
  /// What surely is right for values of the same kind, by what is known so far.
  Tolerance tolerance(size_t output);

 private:
  Comparison compare_with_noise(size_t output, const at::Tensor& got);
  Comparison compare_in_pieces(size_t output, const at::Tensor& got, const Screening& screening,
                               const std::vector<Slicing::Units>& pieces);
  std::vector<Slicing::Units> slices();
  void add_pair();
  bool is_large() const;

  Task task_;
  SizeBytes sizes_;
  std::vector<TensorSpec> inputs_, outputs_;
  std::vector<at::Tensor> given_, torch_;
  std::vector<Oracle> oracle_;
  std::vector<std::optional<Spread>> spreads_;  ///< of outputs of real numbers
  std::vector<Tolerance> of_pieces_;            ///< that were compared by themselves
  uint64_t noise_seed_;
  int pairs_ = 0;  ///< of noisy runs
  int64_t piece_bytes_;
  std::optional<Slicing> slicing_;  ///< if is_large(), and there is a way
  bool noise_on_host_ = false;      ///< and what is kept of it: where the device has no room
};

}  // namespace kb
