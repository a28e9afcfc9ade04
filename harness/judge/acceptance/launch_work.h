// What of a reference's work a call of launch() owes, when prepare() has done all that needs no
// input and everything linear is computed in the best order.
#pragma once

#include <functional>
#include <vector>

#include "judge/acceptance/operators.h"

namespace kb {

/// A product or convolution without an operand that depends on an input is not owed. Of any other
/// one is owed the share that is left when the linear operators around it are folded into it: if
/// what follows or precedes it through these is at some place fewer elements, or a weight is made
/// of fewer, its share is as much smaller.
struct OwedWork {
  double flops = 0;
  /// Of weights, or of what prepare() makes of them, that must be read all the same.
  double weight_bytes = 0;
};

/// One run of a reference, of which only what its outputs depend on counts.
struct LaunchWork {
  Operators counted;  ///< of all calls
  /// No kernel does with less. Where values take several ways, the widest alone says how many
  /// elements must pass; of several products that can be multiplied into one only the largest
  /// counts.
  OwedWork sure;
  /// What is to be expected of a good kernel: several ways add up, and products stay apart.
  OwedWork likely;

  // How much prepare() can take over, for people: nothing is decided by it.
  /// Of calls that depend on weights alone, and of others as far as their operands are made of
  /// fewer weights than they have elements.
  double flops_of_weights = 0;
  double operator_bytes = 0;  ///< read and written by all operators that compute something
  double operator_bytes_of_weights = 0;  ///< by those that depend on weights alone
  double unfolded_weight_bytes = 0;  ///< that prepare() cannot spare launch() by folding weights
};

/// Watches a reference once.
/// @param inputs, weights what it is given; no input lies in one piece of memory with a weight
LaunchWork watch_launch_work(const std::vector<at::Tensor>& inputs,
                             const std::vector<at::Tensor>& weights,
                             const std::function<std::vector<at::Tensor>()>& run);

}  // namespace kb
