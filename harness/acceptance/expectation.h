// What is right for one call, by the one rule that candidates and tasks themselves are judged with.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <vector>

#include "acceptance/compare.h"
#include "acceptance/rounding.h"
#include "acceptance/slicing.h"
#include "kb/task.h"

namespace kb {

/// Floating tensors in fp64, for the oracle; others as they are.
std::vector<at::Tensor> in_fp64(const std::vector<at::Tensor>& tensors);

/// The tensors in the host's memory if wanted, or as they are.
std::vector<at::Tensor> on_host(std::vector<at::Tensor> tensors, bool wanted);

/// The reference's outputs in fp64: as a whole, or in slices where there is no room for that.
/// @param given inputs and weights in reference()'s order
/// @param change of them, if any
std::vector<Expected> oracle_of(const Task& task, const SizeBytes& sizes,
                                const std::vector<at::Tensor>& given, const OraclePlan& plan,
                                const Change& change = {});

/// An output that is wrong.
struct Wrong {
  size_t output;
  Comparison comparison;
};

/// Whether the error may only exceed its bound because the library's error is small in this call.
bool is_little(const Comparison& wrong);

/// Whether the library's output is finite and not mostly rounding error.
bool says_something(const at::Tensor& library, const Tolerance& tolerance);

/// The reference's outputs, in fp64, when inputs and weights are off. The worst of rounding_trials
/// counts.
/// @param exact  inputs and weights in fp64, in reference()'s order
std::vector<at::Tensor> outputs_of_rounded(const Task& task, const SizeBytes& sizes,
                                           std::vector<at::Tensor> exact, Rounding rounding,
                                           at::Generator& rng);
inline constexpr int rounding_trials = 4;

/// Whether such roundings cost so much that the output says nothing.
/// @param cost  tolerance_of() such an output
bool rounding_decides(const Tolerance& cost);

/// The inputs and weights of one call, the reference's outputs in their own precision (library) and
/// in fp64 (oracle).
class Expectation {
 public:
  /// @param given inputs and weights in reference()'s order
  /// @param plan where memory is short
  Expectation(const Task& task, const SizeBytes& sizes, std::vector<at::Tensor> given,
              const OraclePlan& plan = {});

  const std::vector<TensorSpec>& outputs() const { return outputs_; }
  const std::vector<at::Tensor>& given() const { return given_; }
  const at::Tensor& library(size_t output) const { return library_.at(output); }
  const Expected& exact(size_t output) const { return oracle_.at(output); }
  /// All of it, whether it fits or not.
  at::Tensor oracle(size_t output) const;
  /// The oracle for changed inputs and weights.
  std::vector<Expected> exact_with(const Task& task, const SizeBytes& sizes,
                                   const Change& change) const;
  /// How far an output may be off: by tolerance_of(), or as far as a sum in floats, one term after
  /// the other. Where the contract lets libraries round operands to TF32, that
  /// covers what rounding costs: whether a library rounds at these sizes and on this device is its
  /// own affair.
  Tolerance tolerance(size_t output) const;
  /// The same of a part of an output, of which tolerance_of() is known.
  Tolerance allowed(size_t output, const Tolerance& own) const;
  /// What outputs_of_rounded() allow of an output or of a part. Where one rounding of the inputs
  /// moves it by more than one of its own, its sums have been far away and ended near zero. So have
  /// those of one thread, whose roundings are as large as its sums were on the way.
  /// @param moved  tolerance_of() such an output
  Tolerance cost_of_rounding(size_t output, Rounding rounding, const Tolerance& moved) const;
  /// Whether allow_for_rounding() would not fit.
  bool is_short_of_memory() const;

  /// Allows as much as eight roundings of each input and weight to float cost, in the worst of four
  /// trials. Where few elements decide (the others are clamped, or cancel), the library's error in
  /// one call is often a tenth of another right kernel's, and so is the cost of a single trial.
  void allow_for_rounding(const Task& task, const SizeBytes& sizes, at::Generator& rng,
                          Rounding rounding = Rounding::each);
  /// As compare(). What is wrong by little, judged by the library's error in this one call, is
  /// compared again after allow_for_rounding(): an ill-conditioned call may be right in the library
  /// by chance. That needs more memory; where it is short, the first comparison counts.
  Comparison compare_with_rounding(size_t output, const at::Tensor& got, const Task& task,
                                   const SizeBytes& sizes, at::Generator& rng);
  /// Whether the library's outputs say anything: finite, right by the rule, and not mostly rounding
  /// error, neither its own nor, after allow_for_rounding(), that of the inputs.
  bool library_holds() const;

  /// Compares an output: by the value at its position where it names one, else by tolerance.
  Comparison compare(size_t output, const at::Tensor& got) const;
  /// Compares an output whose exact values are integers.
  Comparison compare_exact(size_t output, const at::Tensor& got) const;

 private:
  std::vector<TensorSpec> inputs_, outputs_;
  std::vector<at::Tensor> given_, library_;
  std::vector<Expected> oracle_;
  std::vector<Tolerance> rounding_;  ///< per output, where rounding operands is allowed; else empty
  bool rounding_decides_ = false;    ///< allow_for_rounding() would allow what says nothing
  OraclePlan plan_;
  double terms_ = 0;  ///< of the sums behind an element
};

}  // namespace kb
