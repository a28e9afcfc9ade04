#include "task.h"

#include <kb/reduce.cuh>

using kb::real;

// The elements of x along a dimension, [first, end), that a tap carries to places of z that exist.
struct Carried {
  int64_t first, end;
  __device__ Carried(const task::Sizes& s, int64_t tap, int64_t in, int64_t out) {
    const int64_t before = s.padding - tap, last = out - 1 + before;
    first = before > 0 ? (before + s.stride - 1) / s.stride : 0;
    end = last < 0 ? 0 : last / s.stride < in ? last / s.stride + 1 : in;
  }
};

// One block per channel of a sample of x: for each tap the sum of the elements that it carries.
__global__ void sum_carried(task::Sizes s, const real* x, float* sums, int64_t out_height,
                            int64_t out_width) {
  x += blockIdx.x * s.height * s.width;
  sums += blockIdx.x * s.kernel_size * s.kernel_size;
  for (int64_t p = 0; p < s.kernel_size; ++p) {
    const Carried rows(s, p, s.height, out_height);
    for (int64_t j0 = 0; j0 < s.width; j0 += blockDim.x) {
      const int64_t j = j0 + threadIdx.x;
      float column = 0;
#pragma unroll 8
      for (int64_t i = rows.first; i < (j < s.width ? rows.end : 0); ++i) {
        const float v = x[i * s.width + j];
        column += v;
      }
      for (int64_t q = 0; q < s.kernel_size; ++q) {
        const Carried columns(s, q, s.width, out_width);
        const bool carried = columns.first <= j && j < columns.end;
        const float sum = kb::combine(kb::Block{}, carried ? column : 0, kb::Sum{});
        float* const to = sums + p * s.kernel_size + q;
        if (threadIdx.x == 0) *to = j0 == 0 ? sum : *to + sum;
      }
    }
  }
}

// One warp per element of y: the sum over all of z is that over the taps of products of weights
// with such sums. The second mean is that of one element.
__global__ void multiply(task::Sizes s, const float* sums, const real* weight, const real* bias,
                         real* y, float area) {
  const int64_t i = int64_t{blockIdx.x} * (blockDim.x / 32) + threadIdx.x / 32;
  if (i >= s.batch_size * s.out_channels) return;
  const int64_t taps = s.kernel_size * s.kernel_size, terms = s.in_channels * taps;
  const int64_t o = i % s.out_channels;
  sums += i / s.out_channels * terms;
  float sum = 0;
  for (int64_t t = threadIdx.x % 32; t < terms; t += 32) {
    const float w = weight[(t / taps * s.out_channels + o) * taps + t % taps];
    sum += w * sums[t];
  }
  sum = kb::combine(kb::Warp{}, sum, kb::Sum{});
  const float added = bias[o], mean = sum / area + added;
  if (threadIdx.x % 32 == 0) y[i] = static_cast<real>(mean * static_cast<float>(s.multiplier));
}

void task::launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
                  real* y, cudaStream_t stream) {
  const int64_t planes = s.batch_size * s.in_channels, elements = s.batch_size * s.out_channels;
  void* memory = nullptr;
  cudaMallocAsync(&memory, planes * s.kernel_size * s.kernel_size * sizeof(float), stream);
  const auto sums = static_cast<float*>(memory);
  sum_carried<<<planes, 128, 0, stream>>>(s, x, sums, s.out_height(), s.out_width());
  multiply<<<(elements + 7) / 8, 256, 0, stream>>>(
      s, sums, conv_weight, conv_bias, y, static_cast<float>(s.out_height() * s.out_width()));
  cudaFreeAsync(memory, stream);
}
