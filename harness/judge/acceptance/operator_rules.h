// How ATen's operators round: one table, by name.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/function_schema.h>

#include <array>
#include <optional>
#include <vector>

namespace kb {

enum class OperatorKind {
  exact,         ///< selects, moves or makes values
  one_rounding,  ///< computes each element with one
  elementary,    ///< a function of its first argument, by an approximation
  sum,           ///< adds elements of its first argument
  product,       ///< adds products of elements of two operands
};

/// What an elementary function's error is in proportion to, besides its value: an intermediate that
/// may be larger, as the 1 of 1 - 2 / (1 + exp(2x)) near 0.
enum class Besides { nothing, one, argument };

using Arguments = at::ArrayRef<c10::IValue>;

struct OperatorRule {
  OperatorKind kind;
  double roundings = 1;  ///< of floats, of an elementary function's value
  Besides besides = Besides::nothing;
  double (*terms)(Arguments) = nullptr;     ///< of each sum
  /// The terms of each element of a sum's result, a row each; nothing: only their number counts.
  at::Tensor (*rows)(Arguments) = nullptr;
  std::array<size_t, 2> operands = {0, 1};  ///< of a product
  bool is_convolution = false;
  /// A sum's result, without what is lost where an intermediate leaves the range of floats;
  /// nothing: no intermediate leaves it alone.
  at::Tensor (*in_range)(Arguments, const at::Tensor& result) = nullptr;
  /// The results by other operators, which round for themselves; nothing if these arguments need
  /// none of it.
  std::optional<std::vector<c10::IValue>> (*parts)(Arguments) = nullptr;
};

/// The rule of an operator, or nullptr if there is none. What writes into its argument (`relu_`)
/// has the rule of what does not.
const OperatorRule* rule_of(const c10::FunctionSchema& schema);

/// The rule of a multiplication that stands for a product of matrices with a depth of 1.
const OperatorRule& product_of_one_term();

/// How far a sum of so many terms in floats may be off, in units of itself, where roundings have any
/// direction. What they lose in one direction depends on the terms (losses_of_running_sums()).
double roundoff_of_sum(double terms);

/// The same where the terms are not looked at: as if an eighth of them lost in one direction, as
/// equal terms do. Counts no more than 65,536 terms that way, since longer sums are split.
double roundoff_of_any_sum(double terms);

/// The same of products, whose roundings have any direction: four times as much, for algorithms
/// that form sums of operands first (Winograd). No more than for 65,536 terms, where it would begin
/// to hide operands that were rounded to TF32.
double roundoff_of_products(double terms);

}  // namespace kb
