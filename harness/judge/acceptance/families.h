// Families of inputs: values of every kind that a task's domain holds. A kernel that is right for
// friendly numbers only (a softmax that subtracts a constant instead of the maximum, a maximum that
// starts from 0, eps outside of the root) is wrong in one of them.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "kb/fill.h"
#include "kb/tensors.h"

namespace kb {

/// Values for inputs whose domain is the real numbers.
struct Family {
  std::string name;  ///< such as "far_negative", for results
  Fill fill;         ///< none: upstream's own values
  /// Not where a sum of millions of floats loses too much: roundings add up, or all values have one
  /// sign and the small ones vanish next to the sum.
  bool at_large_sizes = true;
};

/// All families. docs/validity.md says what each one is for.
const std::vector<Family>& families();

/// Those that come at large sizes.
std::vector<Family> for_large_sizes(const std::vector<Family>& families);

/// Values for the weights of networks: the task's own, times a factor. What is inside of a network
/// depends on them, whatever its inputs are.
struct WeightFamily {
  std::string name;
  double scale;
};

/// All of them.
const std::vector<WeightFamily>& weight_families();

/// Whether the judge may draw other values than the task's own for a tensor: an input of real
/// numbers that does not say .only().
bool takes_families(const TensorSpec& spec);

/// Whether weights may be scaled: real numbers that do not say .only().
bool takes_scales(const TensorSpec& spec);

}  // namespace kb
