#include "task.h"

#include <kb/axis.cuh>
#include <kb/conv.cuh>

// Both poolings at once: maxima of windows of 6 x 6 x 6; one block per volume.
__global__ void max_pool(const kb::real* z, float* pooled, kb::Box in) {
  constexpr int side = 6;
  const auto across = static_cast<unsigned>(in.width / side);
  const auto down = static_cast<unsigned>(in.height / side);
  const auto windows = static_cast<unsigned>(in.depth / side) * down * across;
  z += blockIdx.x * in.depth * in.height * in.width;
  pooled += int64_t{blockIdx.x} * windows;
  for (unsigned i = threadIdx.x; i < windows; i += blockDim.x) {
    const int64_t d0 = i / across / down * side, h0 = i / across % down * side;
    const int64_t w0 = i % across * side;
    float max = -INFINITY;
    for (int64_t d = d0; d < d0 + side; ++d) {
#pragma unroll
      for (int64_t h = h0; h < h0 + side; ++h) {
        const kb::real* const row = z + (d * in.height + h) * in.width + w0;
#pragma unroll
        for (int w = 0; w < side; ++w) max = kb::Max{}(max, static_cast<float>(row[w]));
      }
    }
    pooled[i] = max;
  }
}

void task::launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
                  real* y, cudaStream_t stream) {
  const auto shape = kb::conv_transposed_shape<3>(s.batch_size, s.in_channels, s.out_channels,
                                                  {s.depth, s.height, s.width}, s.kernel_size,
                                                  s.stride, s.padding);
  const int64_t volumes = s.batch_size * s.out_channels;
  const int64_t windows = s.pooled(s.depth) * s.pooled(s.height) * s.pooled(s.width);
  void* memory;
  cudaMallocAsync(&memory, volumes * (sizeof(float) * windows + sizeof(real) * shape.out.product()),
                  stream);
  const auto pooled = static_cast<float*>(memory);
  const auto z = reinterpret_cast<real*>(pooled + volumes * windows);
  kb::launch_conv_transposed(stream, shape, x, conv_weight, kb::AddBias{conv_bias}, z);
  max_pool<<<volumes, 256, 0, stream>>>(z, pooled, {shape.out[0], shape.out[1], shape.out[2]});
  kb::launch_reduce_axis(stream, s.batch_size, s.out_channels, windows, kb::Sum{}, kb::Same{}, y,
                         pooled);
  cudaFreeAsync(memory, stream);
}
