// How far two arrays of floats or of a 16-bit type are apart, by one pass over device memory.
#pragma once

#include <cstdint>

typedef struct CUstream_st* cudaStream_t;
struct __half;
struct __nv_bfloat16;

namespace kb {

struct Deviation {
  double error_squared;     ///< sum of (got - expected)^2
  double expected_squared;  ///< sum of expected^2
  float max_excess;     ///< largest |got - expected| - per_value * |expected| - the row's limit,
                        ///< or 0 if none is above
  unsigned not_finite;  ///< how many elements of either array are NaN or infinite
};

/// For one thread.
/// @param got, expected  device pointers to `count` elements: float, __half or __nv_bfloat16
/// @param row_limits     device pointer to a number for each row of `columns` elements
/// @throws std::runtime_error on a CUDA error
template <class T>
Deviation measure_deviation(const T* got, const T* expected, int64_t count, float per_value,
                            const float* row_limits, int64_t columns, cudaStream_t stream);

}  // namespace kb
