// The precision contract: every numeric switch of ATen, in one place.
#pragma once

#include <string>

namespace kb {

/// Sets ATen for a contract. `fp32`: IEEE fp32 everywhere, TF32 off for matrix products,
/// convolutions and recurrent layers (PyTorch's own default leaves the last two on TF32).
/// @throws std::invalid_argument for an unknown contract
void apply_precision(const std::string& contract);

}  // namespace kb
