// Which of the libraries' heavy operators a reference calls, and how much arithmetic they stand
// for.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <cmath>
#include <functional>
#include <vector>

#include "kb/task.h"

namespace kb {

struct Operators {
  double flops = 0;  ///< a multiplication and an addition are two
  bool matmul = false, convolution = false, recurrent = false, attention = false;

  bool any() const { return matmul || convolution || recurrent || attention; }
  Operators& operator+=(const Operators& more);
};

/// One call that counts: its arithmetic, and what that is made of.
struct CountedCall {
  Operators work;
  std::vector<size_t> operands;  ///< arguments whose elements meet in it
  double depth = 1;              ///< of each sum of products
  double taps = 1;               ///< of a convolution: positions of its kernel
  double extent = 1;             ///< of a convolution: the least of its input's and output's grids
};

/// What a call stands for; no arithmetic for what is not counted.
CountedCall count_call(const c10::FunctionSchema& schema, c10::ArrayRef<c10::IValue> arguments,
                       const c10::IValue& result);

/// Whether an operator is taken as a whole although it is made of others.
bool is_taken_whole(const c10::FunctionSchema& schema);

/// Watches the operators that `run` calls on this thread. Matrix products: every pair of elements
/// that meet. Convolutions: every weight at every position of the smaller grid. Recurrent layers:
/// every weight matrix at every step. Attention: both products, of the pairs that its mask leaves.
/// Whatever these use inside is theirs; everything else counts nothing.
/// @throws c10::Error within `run` where these would have more than `most_flops` FLOPs, for
/// convolutions afterwards
Operators watch_operators(const std::function<void()>& run, double most_flops = INFINITY);

/// The same of those only that a tensor which `run` returns depends on: what upstream computes and
/// nobody needs is no work of a task.
Operators watch_needed_operators(const std::function<std::vector<at::Tensor>()>& run);

/// Whether the contract that is set lets LibTorch round operands of these to TF32.
bool may_round_to_tf32(const Operators& operators);

/// The same of a task at any of its sizes, by what its reference calls at the smallest ones. At
/// sizes of 1 the reference may call something else: ATen multiplies matrices with a depth of 1
/// element by element.
bool may_round_to_tf32(const Task& task);

}  // namespace kb
