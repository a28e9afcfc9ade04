// How far two fp32 arrays are apart, by one pass over device memory.
#pragma once

#include <cstdint>

typedef struct CUstream_st* cudaStream_t;

namespace kb {

struct Deviation {
  double error_squared;     ///< sum of (got - expected)^2
  double expected_squared;  ///< sum of expected^2
  float max_excess;         ///< largest |got - expected| - per_value * |expected|
  unsigned not_finite;      ///< how many elements of either array are NaN or infinite
};

/// For one thread.
/// @param got, expected  device pointers to `count` floats
/// @throws std::runtime_error on a CUDA error
Deviation measure_deviation(const float* got, const float* expected, int64_t count, float per_value,
                            cudaStream_t stream);

}  // namespace kb
