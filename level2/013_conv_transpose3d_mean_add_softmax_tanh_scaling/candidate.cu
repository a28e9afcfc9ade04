#include "task.h"

#include <kb/conv.cuh>
#include <kb/reduce.cuh>

// The mean over the depth comes before the product: z's mean is a two-dimensional convolution whose
// channels are pairs (i, p) of a channel of x and a tap along the depth, and whose input is the sum
// of x over all d that p brings into z. Here they are divided by z's depth, too. Each thread takes
// one (sample, i, h, w).
__global__ void sum_depth(task::Sizes s, const kb::real* x, kb::real* sums, int64_t out_depth) {
  const int64_t area = s.height * s.width, volume = kb::Grid::rank() / area;
  if (volume >= s.batch_size * s.in_channels) return;
  x += volume * s.depth * area + kb::Grid::rank() % area;
  sums += volume * s.kernel_size * area + kb::Grid::rank() % area;
  constexpr int taps = 4;  // at a time
  for (int64_t p = 0; p < s.kernel_size; p += taps) {
    float sum[taps] = {};
#pragma unroll 4
    for (int64_t d = 0; d < s.depth; ++d) {
      const float v = static_cast<float>(x[d * area]);
      const int64_t to = d * s.stride - s.padding + p;
      for (int j = 0; j < taps; ++j) sum[j] += to + j >= 0 && to + j < out_depth ? v : 0;
    }
    for (int j = 0; j < taps && p + j < s.kernel_size; ++j) {
      sums[(p + j) * area] = static_cast<kb::real>(sum[j] / out_depth);
    }
  }
}

// From [in_channels, out_channels, p, q, r] to [in_channels, p, out_channels, q, r].
__global__ void repack(task::Sizes s, const kb::real* weight, kb::real* packed) {
  const int64_t i = kb::Grid::rank(), k = s.kernel_size, outs = s.out_channels;
  if (i >= s.in_channels * outs * k * k * k) return;
  const int64_t in = i / (k * k * k * outs), p = i / (k * k * outs) % k, o = i / (k * k) % outs;
  packed[i] = weight[((in * outs + o) * k + p) * k * k + i % (k * k)];
}

struct AddBoth {
  const kb::real *bias, *conv_bias;
  __device__ float operator()(float v, int64_t, int64_t channel, int64_t) const {
    return v + static_cast<float>(conv_bias[channel]) + static_cast<float>(bias[channel]);
  }
};

// In place. Neighbouring threads have neighbouring pixels.
__global__ void finish(kb::real* y, float factor, int64_t pixels, int64_t area, int64_t channels) {
  const int64_t pixel = kb::Grid::rank();
  if (pixel >= pixels) return;
  y += pixel / area * channels * area + pixel % area;
  float max = -INFINITY, sum = 0;
#pragma unroll 8
  for (int64_t c = 0; c < channels; ++c) max = kb::Max{}(max, static_cast<float>(y[c * area]));
#pragma unroll 8
  for (int64_t c = 0; c < channels; ++c) sum += expf(static_cast<float>(y[c * area]) - max);
#pragma unroll 8
  for (int64_t c = 0; c < channels; ++c) {
    const float share = expf(static_cast<float>(y[c * area]) - max) / sum;
    y[c * area] = static_cast<kb::real>(factor * tanhf(share));
  }
}

void task::launch(const Sizes& s, const real* x, const real* bias, const real* conv_weight,
                  const real* conv_bias, real* y, cudaStream_t stream) {
  const int64_t k = s.kernel_size, ins = s.in_channels * k, weights = ins * s.out_channels * k * k;
  const auto shape = kb::conv_transposed_shape<2>(s.batch_size, ins, s.out_channels,
                                                  {s.height, s.width}, k, s.stride, s.padding);
  const int64_t values = s.batch_size * s.in_channels * s.height * s.width;
  void* memory;
  cudaMallocAsync(&memory, sizeof(real) * (values * k + weights), stream);
  const auto sums = static_cast<real*>(memory), packed = sums + values * k;
  constexpr int threads = 256;
  sum_depth<<<(values + threads - 1) / threads, threads, 0, stream>>>(s, x, sums,
                                                                      s.length(s.depth));
  repack<<<(weights + threads - 1) / threads, threads, 0, stream>>>(s, conv_weight, packed);
  const real* const summed = sums;
  const real* const weight = packed;
  kb::launch_conv_transposed(stream, shape, summed, weight, AddBoth{bias, conv_bias}, y);
  const int64_t area = shape.out.product(), pixels = s.batch_size * area;
  finish<<<(pixels + threads - 1) / threads, threads, 0, stream>>>(
      y, static_cast<float>(s.scaling_factor), pixels, area, s.out_channels);
  cudaFreeAsync(memory, stream);
}
