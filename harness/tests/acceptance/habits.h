// A reference as a kernel with one habit computes it: with a mistake, or in another way that is
// right, at every operator that the habit is about.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "judge/acceptance/operator_rules.h"

namespace kb {

/// One call of an operator in fp32.
struct Operator {
  std::string name;          ///< without "aten::" and the "_" of what writes into its argument
  const OperatorRule* rule;  ///< nullptr: unknown
  bool is_part;              ///< of a norm, softmax or other operator that is taken apart
  std::vector<c10::IValue> arguments;
  /// What LibTorch gives for such arguments: the first result.
  std::function<at::Tensor(std::vector<c10::IValue>)> torch;

  bool is(OperatorKind kind) const { return rule != nullptr && rule->kind == kind; }
  at::Tensor tensor(size_t argument) const { return arguments.at(argument).toTensor(); }
};

struct Habit {
  std::string name;
  /// The operator's first result; nothing where the habit is not about this operator.
  std::function<std::optional<at::Tensor>(const Operator&)> compute;
};

struct WithHabit {
  std::vector<at::Tensor> outputs;
  bool is_about_any = false;  ///< of the operators that were called
};

/// What `run` returns with this habit. Operators that the habit is not about, but that acceptance's
/// rules take apart, are taken apart.
WithHabit with_habit(const Habit& habit, const std::function<std::vector<at::Tensor>()>& run);

/// Right ones.
Habit taken_apart();  ///< each operator as LibTorch computes it
/// @param matrix_products whether those have them, too, and not convolutions alone
Habit tf32_operands(bool truncated, bool matrix_products);
Habit fast_intrinsics();  ///< exp2 for exp, 1 - 2 / (1 + exp(2 x)) for tanh, two roundings of it
Habit sums_in_order();    ///< term by term, those of convolutions channel by channel
Habit folded_norms();     ///< x * scale + shift

/// Mistakes. TF32 operands are another where the contract has none.
Habit bf16_operands();
Habit wrong_divisors();
Habit small_eps();
Habit rough_exponentials();
Habit gelu_by_tanh();
Habit sums_in_16_bits();
Habit cancelling_variance();
Habit factor_of_1001();
Habit rough_tanh();

}  // namespace kb
