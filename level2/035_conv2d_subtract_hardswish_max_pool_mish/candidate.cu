#include "task.h"

#include <kb/conv.cuh>
#include <kb/reduce.cuh>

struct HardSwish {
  const kb::real* conv_bias;
  float subtracted;
  __device__ float operator()(float v, int64_t, int64_t channel, int64_t) const {
    v += kb::element(conv_bias, channel) - subtracted;
    return v * kb::clamp(v + 3, 0, 6) / 6;
  }
};

// Each warp computes a row of y from k rows of u, the results of HardSwish.
__global__ void pool(task::Sizes s, const kb::real* u, kb::real* y, int64_t rows) {
  const int64_t k = s.pool_kernel_size, height = s.height - s.kernel_size + 1;
  const int64_t width = s.width - s.kernel_size + 1, columns = width / k;
  const int64_t row = int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  u += (row / (height / k) * height + row % (height / k) * k) * width;
  for (int64_t column = threadIdx.x; column < columns; column += 32) {
    const kb::real* window = u + column * k;
    float max = -INFINITY;
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t q = 0; q < k; ++q) {
        max = kb::Max{}(max, kb::element(window, p * width + q));
      }
    }
    y[row * columns + column] = static_cast<kb::real>(kb::mish(max));
  }
}

void task::launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
                  real* y, cudaStream_t stream) {
  const auto shape = kb::conv_shape<2>(s.batch_size, s.in_channels, s.out_channels,
                                       {s.height, s.width}, s.kernel_size);
  void* memory;
  cudaMallocAsync(&memory, s.batch_size * s.out_channels * shape.out.product() * sizeof(real),
                  stream);
  const auto u = static_cast<real*>(memory);
  const HardSwish hard_swish = {conv_bias, static_cast<float>(s.subtract_value)};
  kb::launch_conv(stream, shape, x, conv_weight, hard_swish, u);
  constexpr int warps = 8;
  const int64_t rows = s.batch_size * s.out_channels * s.pooled(s.height);
  pool<<<(rows + warps - 1) / warps, dim3(32, warps), 0, stream>>>(s, u, y, rows);
  cudaFreeAsync(memory, stream);
}
