// What the judge's own kernels do about errors of CUDA.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace kb {

/// @param doing  what cannot be done then, such as "check an output"
/// @throws std::runtime_error with CUDA's words
inline void check(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return;
  throw std::runtime_error(std::string("cannot ") + doing + ": " + cudaGetErrorString(error));
}

}  // namespace kb
