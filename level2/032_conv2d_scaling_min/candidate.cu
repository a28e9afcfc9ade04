#include "task.h"

#include <kb/axis.cuh>
#include <kb/conv.cuh>

void task::launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
                  real* y, cudaStream_t stream) {
  const auto shape = kb::conv_shape<2>(s.batch_size, s.in_channels, s.out_channels,
                                       {s.height, s.width}, s.kernel_size);
  const int64_t area = shape.out.product();
  void* memory;
  cudaMallocAsync(&memory, s.batch_size * s.out_channels * area * sizeof(real), stream);
  const auto v = static_cast<real*>(memory);
  const kb::AddBiasAndScale scale = {conv_bias, static_cast<float>(s.scale_factor)};
  kb::launch_conv(stream, shape, x, conv_weight, scale, v);
  kb::launch_reduce_axis(stream, s.batch_size, s.out_channels, area, kb::Min{}, kb::Same{}, y, v);
  cudaFreeAsync(memory, stream);
}
