// Trivial answers and half-done work: what a task must not accept.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "kb/tensors.h"

namespace kb {

/// A wrong answer written down without computing it: zeros, a constant, another call's output.
struct OutputMutant {
  std::string name;
  at::Tensor value;
};

/// @param right the oracle's output, in fp64 or of an integer type
/// @param other the oracle's output for other inputs under the same weights
/// @return the mutants that make sense for this output, in the output's type
std::vector<OutputMutant> output_mutants(const TensorSpec& spec, const at::Tensor& right,
                                         const at::Tensor& other);

/// An input or weight in the way that a mutant changes it.
enum class Aspect {
  value,      ///< another value is used, or none
  precision,  ///< the value is used, rounded
  stage,      ///< all values are used, but an operator is left out
};

/// The reference at work on other inputs and weights than it was given.
struct ArgumentMutant {
  std::string name;
  Aspect aspect;
  std::vector<at::Tensor> given;
};

/// Every input ignored and reordered, every vector of weights replaced by ones and zeros, every
/// other weight by another draw, samples of the inputs along each dimension, operands rounded to
/// TF32 and bf16.
/// @param specs inputs and weights in reference()'s order
/// @param given their values
/// @param other other values of all of them
std::vector<ArgumentMutant> argument_mutants(const std::vector<TensorSpec>& specs,
                                             const std::vector<at::Tensor>& given,
                                             const std::vector<at::Tensor>& other);

/// An input or weight handed out as the output, where the number of elements agrees.
std::vector<OutputMutant> identity_mutants(const TensorSpec& output,
                                           const std::vector<TensorSpec>& specs,
                                           const std::vector<at::Tensor>& given);

}  // namespace kb
