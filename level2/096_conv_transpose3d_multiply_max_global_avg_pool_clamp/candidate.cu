#include "task.h"

#include <kb/conv.cuh>
#include <kb/reduce.cuh>

// The clamped mean of the maxima of all windows; one block per volume.
__global__ void pool(const kb::real* z, kb::real* y, kb::Box in, int64_t side) {
  const auto across = static_cast<unsigned>(in.width / side);
  const auto down = static_cast<unsigned>(in.height / side);
  const auto windows = static_cast<unsigned>(in.depth / side) * down * across;
  z += blockIdx.x * in.depth * in.height * in.width;
  float sum = 0;
  for (unsigned i = threadIdx.x; i < windows; i += blockDim.x) {
    const int64_t d0 = i / across / down * side, h0 = i / across % down * side;
    const int64_t w0 = i % across * side;
    float max = -INFINITY;
    for (int64_t d = d0; d < d0 + side; ++d) {
      for (int64_t h = h0; h < h0 + side; ++h) {
        const kb::real* const row = z + (d * in.height + h) * in.width + w0;
        for (int64_t w = 0; w < side; ++w) max = kb::Max{}(max, static_cast<float>(row[w]));
      }
    }
    sum += max;
  }
  sum = kb::combine(kb::Block{}, sum, kb::Sum{});
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<kb::real>(kb::clamp(sum / windows, 0, 1));
}

void task::launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
                  real* y, cudaStream_t stream) {
  const auto shape = kb::conv_transposed_shape<3>(s.batch_size, s.in_channels, s.out_channels,
                                                  {s.depth, s.height, s.width}, s.kernel_size,
                                                  s.stride, s.padding);
  const int64_t volumes = s.batch_size * s.out_channels;
  void* memory;
  cudaMallocAsync(&memory, sizeof(real) * volumes * shape.out.product(), stream);
  const auto z = static_cast<real*>(memory);
  const kb::AddBiasAndScale scaled = {conv_bias, static_cast<float>(s.scale)};
  kb::launch_conv_transposed(stream, shape, x, conv_weight, scaled, z);
  const kb::Box in = {shape.out[0], shape.out[1], shape.out[2]};
  pool<<<volumes, 512, 0, stream>>>(z, y, in, s.maxpool_kernel_size);
  cudaFreeAsync(memory, stream);
}
