#include "task.h"

#include <kb/conv.cuh>
#include <kb/reduce.cuh>

using kb::real;

// One block per channel of a sample of z, [rows, columns].
__global__ void pool(task::Sizes s, const real* z, real* y, int64_t rows, int64_t columns) {
  const int64_t window = s.maxpool_kernel_size, step = s.maxpool_stride;
  const int64_t down = (rows - window) / step + 1, across = (columns - window) / step + 1;
  const auto low = static_cast<float>(s.hardtanh_min), high = static_cast<float>(s.hardtanh_max);
  z += blockIdx.x * rows * columns;
  float sum = 0;
  for (int64_t i = threadIdx.x; i < down * across; i += blockDim.x) {
    const real* const first = z + i / across * step * columns + i % across * step;
    float max = -INFINITY;
    for (int64_t h = 0; h < window; ++h) {
      for (int64_t w = 0; w < window; ++w) {
        const float v = first[h * columns + w];
        max = kb::Max{}(max, v);
      }
    }
    sum += kb::clamp(max, low, high);
  }
  sum = kb::combine(kb::Block{}, sum, kb::Sum{});
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<real>(tanhf(sum / (down * across)));
}

void task::launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
                  real* y, cudaStream_t stream) {
  const auto shape =
      kb::conv_transposed_shape<2>(s.batch_size, s.in_channels, s.out_channels, {s.height, s.width},
                                   s.kernel_size, s.stride, s.padding);
  const int64_t planes = s.batch_size * s.out_channels;
  void* memory = nullptr;
  cudaMallocAsync(&memory, planes * shape.out.product() * sizeof(real), stream);
  const auto z = static_cast<real*>(memory);
  kb::launch_conv_transposed(stream, shape, x, conv_weight, kb::AddBias{conv_bias}, z);
  pool<<<planes, 256, 0, stream>>>(s, z, y, shape.out[0], shape.out[1]);
  cudaFreeAsync(memory, stream);
}
