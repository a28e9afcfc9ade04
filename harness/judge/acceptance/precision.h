// The precision contracts: every numeric switch of ATen, in one place.
#pragma once

#include <ATen/ATen.h>

#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "kb/contract.h"

namespace kb {

/// The strictest contract for tensors of this build's kb::real.
inline constexpr const char* build_contract = std::is_same_v<real, float>    ? "fp32"
                                              : std::is_same_v<real, __half> ? "fp16"
                                                                             : "bf16";

/// fp32, tf32, kernelbench, fp16, bf16.
const std::vector<std::string>& contract_names();

/// Sets ATen for a contract, before its libraries are first used.
/// `fp32`: IEEE fp32 everywhere; TF32 off for matrix products, convolutions and recurrent layers.
/// `tf32`: TF32 allowed for all of them.
/// `kernelbench`: PyTorch's defaults, which KernelBench never changes: matrix products in IEEE
/// fp32, convolutions and recurrent layers in TF32, reductions within 16-bit products in 16 bits.
/// `fp16`, `bf16`: PyTorch's defaults for tensors of these types.
/// @throws std::invalid_argument for an unknown contract
void apply_precision(const std::string& contract);

/// By how much of itself a value is off at most after one rounding of floats to nearest.
inline constexpr double float_roundoff = 0x1p-24;

/// How a contract's arithmetic rounds, by how much of itself a value is off at most.
struct Roundings {
  double matmul_operand = float_roundoff;       ///< of matrix products and attention
  double convolution_operand = float_roundoff;  ///< of convolutions and recurrent layers
  double storage = 0;   ///< of every operator's result in a 16-bit type; 0: it stays in fp32
  double largest = 0;   ///< finite value of that type
  double smallest = 0;  ///< half a step between its smallest values, where fp32 has smaller ones
};

/// Those of ATen's switches as they are now and of this build's kb::real.
Roundings roundings_of_contract();

/// By how much of itself a value of this type is off at most after one rounding to nearest.
/// @throws c10::Error for a type that is no floating one
double unit_roundoff(at::ScalarType type);

/// The largest finite value of fp32 or a 16-bit type; fp64 values have fp32's, too.
double largest_value(at::ScalarType type);

/// @throws std::invalid_argument if the contract's tensors are not of this build's kb::real
void require_element_type(const std::string& contract);

/// ATen's switches as they are now, for results: {"matmul_tf32": false, ...}.
std::map<std::string, bool> precision_settings();

}  // namespace kb
