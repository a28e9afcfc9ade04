// Each thread has a subsequence of cuRAND's Philox generator and strides over the values, four at a
// time.
#include "reference/normal_rows.h"

#include <cuda_runtime.h>
#include <curand_kernel.h>

#include <algorithm>

#include "base/cuda_error.h"

namespace kb {
namespace {

constexpr int threads = 256;
constexpr int per_step = 4;

// Index is 32 bits wide where that is enough: a GPU has no instructions that divide, and every step
// divides by the number of columns.
template <class Index>
__global__ void draw(float* out, Index count, Index columns, const float* stddev,
                     const int64_t* key) {
  const Index thread = static_cast<Index>(blockIdx.x) * threads + threadIdx.x;
  curandStatePhilox4_32_10_t state;
  curand_init(static_cast<unsigned long long>(*key), thread, 0, &state);
  const bool whole = reinterpret_cast<uintptr_t>(out) % sizeof(float4) == 0;
  const Index stride = static_cast<Index>(gridDim.x) * threads * per_step;
  for (Index i = thread * per_step; i < count; i += stride) {
    const float4 z = curand_normal4(&state);
    float values[per_step] = {z.x, z.y, z.z, z.w};
    const Index left = count - i;
    Index row = i / columns, column = i - row * columns;
    for (int j = 0; j < per_step && j < left; ++j) {
      values[j] *= stddev[row];
      if (++column == columns) {
        column = 0;
        ++row;
      }
    }
    if (whole && left >= per_step) {
      *reinterpret_cast<float4*>(out + i) = {values[0], values[1], values[2], values[3]};
    } else {
      for (int j = 0; j < per_step && j < left; ++j) out[i + j] = values[j];
    }
  }
}

template <class Index>
void launch(float* out, int64_t rows, int64_t columns, const float* stddev, const int64_t* key,
            cudaStream_t stream) {
  constexpr int64_t most_blocks = 2048;
  const int64_t count = rows * columns;
  const int64_t blocks = std::min(most_blocks, (count - 1) / (threads * per_step) + 1);
  draw<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(
      out, static_cast<Index>(count), static_cast<Index>(columns), stddev, key);
  check(cudaGetLastError(), "draw normal values");
}

}  // namespace

void draw_normal_rows(float* out, int64_t rows, int64_t columns, const float* stddev,
                      const int64_t* key, cudaStream_t stream) {
  if (rows == 0 || columns == 0) return;
  const bool narrow = rows * columns < int64_t{1} << 31;  // and a stride more fits, too
  (narrow ? launch<uint32_t> : launch<int64_t>)(out, rows, columns, stddev, key, stream);
}

}  // namespace kb
