#include "task.h"

#include <kb/conv.cuh>
#include <kb/map.cuh>
#include <kb/moments.cuh>

using kb::real;

constexpr int most_parts = 32;

// Block (i, j) measures channel i of z in sample j and every gridDim.y-th after it.
__global__ void measure(const real* z, kb::Moments* parts, int64_t samples, int64_t area) {
  const kb::OnlineMoments merge;
  kb::Moments m = merge.identity();
  for (int64_t sample = blockIdx.y; sample < samples; sample += gridDim.y) {
    const real* const values = z + (sample * gridDim.x + blockIdx.x) * area;
    m = merge(m, kb::fold(kb::Block{}, area, merge, kb::Same{}, values));
  }
  m = kb::combine(kb::Block{}, m, merge);
  if (threadIdx.x == 0) parts[int64_t{blockIdx.x} * most_parts + blockIdx.y] = m;
}

struct Norms {
  const real *batch_weight, *batch_bias, *group_weight, *group_bias;
};

// One block per group of a sample; each warp takes some of its channels. Because tanh is monotonic,
// it may follow the maximum.
__global__ void normalise(task::Sizes s, int64_t height, int64_t width, const real* z,
                          const kb::Moments* parts, int count, Norms norms, real* y) {
  const kb::OnlineMoments merge;
  const int64_t rows = height / 2, columns = width / 2, area = rows * columns;
  const int64_t channels = s.out_channels / s.num_groups, warps = blockDim.x / 32;
  const int64_t first = blockIdx.x % s.num_groups * channels;
  const int lane = threadIdx.x % 32;
  z += blockIdx.x * channels * height * width;
  y += blockIdx.x * channels * area;
  kb::Moments all = merge.identity();
  for (int64_t c = threadIdx.x / 32; c < channels; c += warps) {
    const kb::Moments part =
        lane < count ? parts[(first + c) * most_parts + lane] : merge.identity();
    const kb::Moments m = kb::combine(kb::Warp{}, part, merge);
    const float weight = norms.batch_weight[first + c], offset = norms.batch_bias[first + c];
    const float scale = weight / sqrtf(m.variance() + 1e-5f);
    for (int64_t i = lane; i < area; i += 32) {
      const real* const corner = z + (c * height + i / columns * 2) * width + i % columns * 2;
      float max = -INFINITY;
      for (int j = 0; j < 4; ++j) {
        const float v = corner[j / 2 * width + j % 2];
        max = kb::Max{}(max, (v - m.mean) * scale + offset);
      }
      max = tanhf(max);
      y[c * area + i] = static_cast<real>(max);
      all = kb::append(merge, all, max, i);
    }
  }
  all = kb::combine(kb::Block{}, all, merge);
  for (int64_t c = threadIdx.x / 32; c < channels; c += warps) {
    const float weight = norms.group_weight[first + c], offset = norms.group_bias[first + c];
    const float scale = weight / sqrtf(all.variance() + 1e-5f);
    const auto f = [=](float v) { return (v - all.mean) * scale + offset; };
    kb::map(kb::Warp{}, area, f, y + c * area, y + c * area);
  }
}

void task::launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
                  const real* batch_weight, const real* batch_bias, const real* group_weight,
                  const real* group_bias, real* y, cudaStream_t stream) {
  const auto shape =
      kb::conv_transposed_shape<2>(s.batch_size, s.in_channels, s.out_channels, {s.height, s.width},
                                   s.kernel_size, s.stride, s.padding);
  const int64_t area = shape.out.product();
  const dim3 grid(s.out_channels, s.batch_size < most_parts ? s.batch_size : most_parts);
  void* memory = nullptr;
  cudaMallocAsync(
      &memory,
      s.out_channels * (most_parts * sizeof(kb::Moments) + s.batch_size * area * sizeof(real)),
      stream);
  const auto parts = static_cast<kb::Moments*>(memory);
  const auto z = reinterpret_cast<real*>(parts + s.out_channels * most_parts);
  kb::launch_conv_transposed(stream, shape, x, conv_weight, kb::AddBias{conv_bias}, z);
  measure<<<grid, 256, 0, stream>>>(z, parts, s.batch_size, area);
  normalise<<<s.batch_size * s.num_groups, 256, 0, stream>>>(
      s, shape.out[0], shape.out[1], z, parts, grid.y,
      {batch_weight, batch_bias, group_weight, group_bias}, y);
  cudaFreeAsync(memory, stream);
}
