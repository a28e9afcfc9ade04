// Which of ATen's operators are linear in what depends on a call's inputs.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <vector>

namespace kb {

/// Whether a call's results are linear in its arguments that vary, up to a summand that does not:
/// a sum, a mean, a factor that is a weight. False for an operator that is not known.
/// @param varies for each argument, whether a tensor in it depends on inputs
bool is_linear(const c10::FunctionSchema& schema, c10::ArrayRef<c10::IValue> arguments,
               const std::vector<bool>& varies);

/// Whether an operator takes a tensor for its shape alone, as zeros_like() does.
bool ignores_values(const c10::FunctionSchema& schema);

/// Whether an operator computes nothing: its results are elements of its arguments, in another
/// order.
bool only_moves(const c10::FunctionSchema& schema);

/// Whether an operator puts its arguments side by side and adds nothing.
bool concatenates(const c10::FunctionSchema& schema);

}  // namespace kb
