#include "task.h"

#include <kb/conv.cuh>
#include <kb/reduce.cuh>

// One block per volume of z.
__global__ void max_pool(const kb::real* z, float* pooled, kb::Box in, kb::Box out, int64_t side,
                         int64_t stride, int64_t padding) {
  const auto across = static_cast<unsigned>(out.width), down = static_cast<unsigned>(out.height);
  const auto windows = static_cast<unsigned>(out.depth) * down * across;
  z += blockIdx.x * in.depth * in.height * in.width;
  pooled += int64_t{blockIdx.x} * windows;
  for (unsigned i = threadIdx.x; i < windows; i += blockDim.x) {
    const int64_t d0 = i / across / down * stride - padding;
    const int64_t h0 = i / across % down * stride - padding, w0 = i % across * stride - padding;
    float max = -INFINITY;
    for (int64_t d = d0 < 0 ? 0 : d0; d < d0 + side && d < in.depth; ++d) {
      for (int64_t h = h0 < 0 ? 0 : h0; h < h0 + side && h < in.height; ++h) {
        for (int64_t w = w0 < 0 ? 0 : w0; w < w0 + side && w < in.width; ++w) {
          max = kb::Max{}(max, static_cast<float>(z[(d * in.height + h) * in.width + w]));
        }
      }
    }
    pooled[i] = max;
  }
}

// Neighbouring threads have neighbouring pixels.
__global__ void finish(const float* v, const kb::real* subtract, kb::real* y, int64_t pixels,
                       int64_t area, int64_t channels) {
  const int64_t pixel = kb::Grid::rank();
  if (pixel >= pixels) return;
  v += pixel / area * channels * area + pixel % area;
  float max = -INFINITY, sum = 0, best = -INFINITY;
  for (int64_t c = 0; c < channels; ++c) max = kb::Max{}(max, v[c * area]);
  for (int64_t c = 0; c < channels; ++c) sum += expf(v[c * area] - max);
  for (int64_t c = 0; c < channels; ++c) {
    const float u = expf(v[c * area] - max) / sum - static_cast<float>(subtract[c]);
    best = kb::Max{}(best, u / (1 + expf(-u)));
  }
  y[pixel] = static_cast<kb::real>(best);
}

void task::launch(const Sizes& s, const real* x, const real* subtract, const real* conv_weight,
                  const real* conv_bias, real* y, cudaStream_t stream) {
  const auto shape = kb::conv_transposed_shape<3>(s.batch_size, s.in_channels, s.out_channels,
                                                  {s.depth, s.height, s.width}, s.kernel_size,
                                                  s.stride, s.padding, s.output_padding);
  const kb::Box in = {shape.out[0], shape.out[1], shape.out[2]};
  const kb::Box out = {s.pooled(s.depth), s.pooled(s.height), s.pooled(s.width)};
  const int64_t volumes = s.batch_size * s.out_channels, area = out.depth * out.height * out.width;
  void* memory;
  cudaMallocAsync(&memory, volumes * (sizeof(float) * area + sizeof(real) * shape.out.product()),
                  stream);
  const auto pooled = static_cast<float*>(memory);
  const auto z = reinterpret_cast<real*>(pooled + volumes * area);
  kb::launch_conv_transposed(stream, shape, x, conv_weight, kb::AddBias{conv_bias}, z);
  max_pool<<<volumes, 512, 0, stream>>>(z, pooled, in, out, s.pool_kernel_size, s.pool_stride,
                                        s.pool_padding);
  const int64_t pixels = s.batch_size * area;
  finish<<<(pixels + 255) / 256, 256, 0, stream>>>(pooled, subtract, y, pixels, area,
                                                   s.out_channels);
  cudaFreeAsync(memory, stream);
}
