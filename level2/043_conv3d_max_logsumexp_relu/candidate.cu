#include "task.h"

#include <cfloat>

#include <kb/conv.cuh>
#include <kb/reduce.cuh>

using kb::real;

// One thread per element of y; z is [batch, channels, slices, rows, columns].
__global__ void pool(const real* z, real* y, int64_t channels, int64_t slices, int64_t rows,
                     int64_t columns, int64_t elements) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  const int64_t across = columns / 2, down = rows / 2, deep = slices / 2;
  z += (i / across / down / deep * channels * slices + i / across / down % deep * 2) * rows *
           columns +
       i / across % down * 2 * columns + i % across * 2;
  float max = -FLT_MAX, sum = 0;
  for (int64_t o = 0; o < channels; ++o) {
    const real* const corner = z + o * slices * rows * columns;
    float pooled = -INFINITY;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float v = corner[(j / 4 * rows + j / 2 % 2) * columns + j % 2];
      pooled = kb::Max{}(pooled, v);
    }
    const float greater = fmaxf(max, pooled);
    sum = sum * expf(max - greater) + expf(pooled - greater);
    max = greater;
  }
  const float v = max + logf(sum);
  y[i] = static_cast<real>(v < 0 ? 0 : v);
}

void task::launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
                  real* y, cudaStream_t stream) {
  const auto shape =
      kb::conv_shape<3>(s.batch_size, s.in_channels, s.out_channels, {s.depth, s.height, s.width},
                        s.kernel_size, s.stride, s.padding);
  const auto [slices, rows, columns] = shape.out.at;
  const int64_t elements = s.batch_size * (slices / 2) * (rows / 2) * (columns / 2);
  void* memory = nullptr;
  cudaMallocAsync(&memory, s.batch_size * s.out_channels * shape.out.product() * sizeof(real),
                  stream);
  const auto z = static_cast<real*>(memory);
  kb::launch_conv(stream, shape, x, conv_weight, kb::AddBias{conv_bias}, z);
  pool<<<(elements + 255) / 256, 256, 0, stream>>>(z, y, s.out_channels, slices, rows, columns,
                                                   elements);
  cudaFreeAsync(memory, stream);
}
