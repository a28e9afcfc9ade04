#include "task.h"

#include <kb/axis.cuh>
#include <kb/conv.cuh>

struct Sigmoid {
  const kb::real* conv_bias;
  __device__ float operator()(float v, int64_t, int64_t channel, int64_t) const {
    return 1 / (1 + expf(-v - kb::element(conv_bias, channel)));
  }
};

// A mean of neighbouring results of a convolution is the result of one with a larger kernel: the
// mean of the kernel at the places that it has for them. Element (i, j) of such a kernel of size
// k + pool - 1 is a sum over a window of the smaller one's elements, divided.
__global__ void average_kernels(const kb::real* weight, kb::real* wide, int64_t kernels, int64_t k,
                                int64_t pool) {
  const int64_t size = k + pool - 1, at = kb::Grid::rank(), i = at / size % size, j = at % size;
  if (at >= kernels * size * size) return;
  weight += at / (size * size) * k * k;
  float sum = 0;
  for (int64_t p = max(i - pool + 1, int64_t{0}); p <= min(i, k - 1); ++p) {
    for (int64_t q = max(j - pool + 1, int64_t{0}); q <= min(j, k - 1); ++q) {
      sum += kb::element(weight, p * k + q);
    }
  }
  wide[at] = static_cast<kb::real>(sum / (pool * pool));
}

void task::launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
                  real* y, cudaStream_t stream) {
  const int64_t pool = s.pool_kernel_size, size = s.kernel_size + pool - 1,
                kernels = s.out_channels * s.in_channels;
  const auto shape = kb::conv_shape<2>(s.batch_size, s.in_channels, s.out_channels,
                                       {s.height, s.width}, size, pool);
  const int64_t n = s.out_channels * shape.out.product();  // of a sample
  void *memory, *kernel_memory;
  cudaMallocAsync(&memory, s.batch_size * n * sizeof(real), stream);
  cudaMallocAsync(&kernel_memory, kernels * size * size * sizeof(real), stream);
  const auto v = static_cast<real*>(memory), wide = static_cast<real*>(kernel_memory);
  average_kernels<<<(kernels * size * size + 255) / 256, 256, 0, stream>>>(
      conv_weight, wide, kernels, s.kernel_size, pool);
  kb::launch_conv(stream, shape, x, wide, Sigmoid{conv_bias}, v);
  kb::launch_reduce_axis(stream, s.batch_size, n, 1, kb::Sum{}, kb::Same{}, y, v);
  cudaFreeAsync(memory, stream);
  cudaFreeAsync(kernel_memory, stream);
}
