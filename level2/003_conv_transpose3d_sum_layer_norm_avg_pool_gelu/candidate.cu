#include "task.h"

#include <kb/conv.cuh>
#include <kb/reduce.cuh>

// One warp per row of y. It normalises the rows of z that it pools; these are of one volume.
__global__ void normalise_and_pool(const kb::real* z, const kb::real* weight, const kb::real* bias,
                                   kb::real* y, kb::Box in, kb::Box window, kb::Box out,
                                   int64_t rows) {
  const int64_t row = kb::Grid::rank() / 32, lane = kb::Warp::rank();
  if (row >= rows) return;
  const int64_t volume = row / out.height / out.depth;
  const int64_t d0 = row / out.height % out.depth * window.depth;
  const int64_t h0 = row % out.height * window.height;
  for (int64_t first = 0; first < out.width; first += 32) {
    const int64_t to = first + lane;
    float sum = 0;
    for (int64_t d = d0; d < d0 + window.depth; ++d) {
      for (int64_t h = h0; h < h0 + window.height; ++h) {
        const kb::real* v = z + ((volume * in.depth + d) * in.height + h) * in.width;
        const kb::Warp warp;
        const float mean = kb::reduce(warp, in.width, kb::Sum{}, kb::Same{}, v) / in.width;
        const auto deviation = [=](float v) { return (v - mean) * (v - mean); };
        const float variance = kb::reduce(warp, in.width, kb::Sum{}, deviation, v) / in.width;
        const float scale = 1 / sqrtf(variance + 1e-5f);
        for (int64_t w = to * window.width; to < out.width && w < (to + 1) * window.width; ++w) {
          sum += (static_cast<float>(v[w]) - mean) * scale * static_cast<float>(weight[w]) +
                 static_cast<float>(bias[w]);
        }
      }
    }
    const float u = sum / (window.depth * window.height * window.width);
    constexpr float sqrt_half = 0.70710678f;
    const float result = 0.5f * u * (1 + erff(u * sqrt_half));
    if (to < out.width) y[row * out.width + to] = static_cast<kb::real>(result);
  }
}

// The normalisation takes away what is added to a whole row: sum_weight and conv_bias.
void task::launch(const Sizes& s, const real* x, const real*, const real* conv_weight, const real*,
                  const real* norm_weight, const real* norm_bias, real* y, cudaStream_t stream) {
  const auto shape = kb::conv_transposed_shape<3>(s.batch_size, s.in_channels, s.out_channels,
                                                  {s.depth, s.height, s.width}, s.kernel_size,
                                                  s.stride, s.padding, s.output_padding);
  const int64_t volumes = s.batch_size * s.out_channels;
  void* memory;
  cudaMallocAsync(&memory, sizeof(real) * volumes * shape.out.product(), stream);
  const auto z = static_cast<real*>(memory);
  kb::launch_conv_transposed(stream, shape, x, conv_weight, kb::AsIs{}, z);
  const kb::Box in = {shape.out[0], shape.out[1], shape.out[2]};
  const kb::Box window = {s.pool_kernel_size[0], s.pool_kernel_size[1], s.pool_kernel_size[2]};
  const kb::Box out = {s.pooled(0), s.pooled(1), s.pooled(2)};
  constexpr int threads = 256, rows_per_block = threads / 32;
  const int64_t rows = volumes * out.depth * out.height;
  normalise_and_pool<<<(rows + rows_per_block - 1) / rows_per_block, threads, 0, stream>>>(
      z, norm_weight, norm_bias, y, in, window, out, rows);
  cudaFreeAsync(memory, stream);
}
