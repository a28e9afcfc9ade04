// The precision contracts: every numeric switch of ATen, in one place.
#pragma once

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

/// @throws std::invalid_argument if the contract's tensors are not of this build's kb::real
void require_element_type(const std::string& contract);

/// ATen's switches as they are now, for results: {"matmul_tf32": false, ...}.
std::map<std::string, bool> precision_settings();

}  // namespace kb
