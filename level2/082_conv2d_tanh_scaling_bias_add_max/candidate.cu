#include "task.h"

#include <kb/conv.cuh>
#include <kb/reduce.cuh>

// Each warp computes a row of y from k rows of u, the results of the convolution. tanh(v) * factor
// + bias is monotonic in v, so it is greatest for the greatest v, or for the least if factor < 0.
__global__ void pool(task::Sizes s, const kb::real* bias, const kb::real* u, kb::real* y,
                     int64_t rows) {
  const int64_t k = s.pool_kernel_size, height = s.height - s.kernel_size + 1;
  const int64_t width = s.width - s.kernel_size + 1, columns = width / k;
  const int64_t row = int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  u += (row / (height / k) * height + row % (height / k) * k) * width;
  const auto factor = static_cast<float>(s.scaling_factor);
  const auto offset = kb::element(bias, row / (height / k) % s.out_channels);
  const float sign = factor < 0 ? -1 : 1;
  for (int64_t column = threadIdx.x; column < columns; column += 32) {
    const kb::real* window = u + column * k;
    float extreme = -INFINITY;
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t q = 0; q < k; ++q) {
        extreme = kb::Max{}(extreme, sign * kb::element(window, p * width + q));
      }
    }
    y[row * columns + column] = static_cast<kb::real>(tanhf(sign * extreme) * factor + offset);
  }
}

void task::launch(const Sizes& s, const real* x, const real* bias, const real* conv_weight,
                  const real* conv_bias, real* y, cudaStream_t stream) {
  const auto shape = kb::conv_shape<2>(s.batch_size, s.in_channels, s.out_channels,
                                       {s.height, s.width}, s.kernel_size);
  void* memory;
  cudaMallocAsync(&memory, s.batch_size * s.out_channels * shape.out.product() * sizeof(real),
                  stream);
  const auto u = static_cast<real*>(memory);
  kb::launch_conv(stream, shape, x, conv_weight, kb::AddBias{conv_bias}, u);
  constexpr int warps = 8;
  const int64_t rows = s.batch_size * s.out_channels * s.pooled(s.height);
  pool<<<(rows + warps - 1) / warps, dim3(32, warps), 0, stream>>>(s, bias, u, y, rows);
  cudaFreeAsync(memory, stream);
}
