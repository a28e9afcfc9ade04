#include "task.h"

#include <kb/conv.cuh>
#include <kb/map.cuh>
#include <kb/reduce.cuh>

// One warp per row of y, in place.
__global__ void normalise(kb::real* y, const kb::real* weight, const kb::real* bias, int64_t rows,
                          int64_t width, float eps, float factor) {
  const int64_t row = kb::Grid::rank() / 32;
  if (row >= rows) return;
  y += row * width;
  const float mean = kb::reduce(kb::Warp{}, width, kb::Sum{}, kb::Same{}, y) / width;
  const auto deviation = [=](float v) { return (v - mean) * (v - mean); };
  const float variance = kb::reduce(kb::Warp{}, width, kb::Sum{}, deviation, y) / width;
  const float scale = 1 / sqrtf(variance + eps);
  const auto finish = [=](float v, float w, float b) {
    const float u = (v - mean) * scale * w + b;
    constexpr float sqrt_half = 0.70710678f;
    return factor * 0.5f * u * (1 + erff(u * sqrt_half));
  };
  kb::map(kb::Warp{}, width, finish, y, y, weight, bias);
}

void task::launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
                  const real* norm_weight, const real* norm_bias, real* y, cudaStream_t stream) {
  const auto shape =
      kb::conv_transposed_shape<3>(s.batch_size, s.in_channels, s.out_channels, {s.D, s.H, s.W},
                                   s.kernel_size, s.stride, s.padding);
  kb::launch_conv_transposed(stream, shape, x, conv_weight, kb::AddBias{conv_bias}, y);
  const int64_t width = shape.out[2],
                rows = s.batch_size * s.out_channels * shape.out.product() / width;
  constexpr int threads = 256, rows_per_block = threads / 32;
  normalise<<<(rows + rows_per_block - 1) / rows_per_block, threads, 0, stream>>>(
      y, norm_weight, norm_bias, rows, width, static_cast<float>(s.eps),
      static_cast<float>(s.scaling_factor));
}
