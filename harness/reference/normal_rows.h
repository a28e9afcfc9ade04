// Normal values written to the device in one pass: ATen draws them in one and scales rows in a
// second, which at gigabytes takes longer than the first.
#pragma once

#include <cstdint>

typedef struct CUstream_st* cudaStream_t;

namespace kb {

/// out[r][c] = stddev[r] * (a standard normal value)
/// @param out     device pointer to rows * columns floats
/// @param stddev  device pointer to one float per row
/// @param key     device pointer to the number that all values follow from
/// @throws std::runtime_error on a CUDA error
void draw_normal_rows(float* out, int64_t rows, int64_t columns, const float* stddev,
                      const int64_t* key, cudaStream_t stream);

}  // namespace kb
