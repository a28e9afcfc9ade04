#include "task.h"

#include <kb/depthwise.cuh>

// Some samples at a time, so that what lies between the two convolutions takes little memory.
template <class T>
static void separable(const task::Sizes& s, const T* x, const T* depthwise, const T* pointwise,
                      T* y, cudaStream_t stream) {
  const int64_t area = s.out_height() * s.out_width(), sample = s.in_channels * area;
  const int64_t wanted = (int64_t{256} << 20) / (sample * static_cast<int64_t>(sizeof(T)));
  const int64_t most = wanted < 1 ? 1 : wanted < s.batch_size ? wanted : s.batch_size;
  void* memory = nullptr;
  cudaMallocAsync(&memory, most * sample * sizeof(T), stream);
  const auto z = static_cast<T*>(memory);
  for (int64_t first = 0; first < s.batch_size; first += most) {
    const int64_t samples = s.batch_size - first < most ? s.batch_size - first : most;
    const auto each =
        kb::conv_shape<2>(samples, s.in_channels, s.in_channels, {s.height, s.width}, s.kernel_size,
                          s.stride, s.padding, s.dilation, s.in_channels);
    kb::launch_depthwise(stream, each, x + first * s.in_channels * s.height * s.width, depthwise,
                         kb::AsIs{}, z);
    const auto all = kb::conv_shape<2>(samples, s.in_channels, s.out_channels,
                                       {s.out_height(), s.out_width()}, 1);
    kb::launch_conv(stream, all, z, pointwise, kb::AsIs{}, y + first * s.out_channels * area);
  }
  cudaFreeAsync(memory, stream);
}

void task::launch(const Sizes& s, const real* x, const real* depthwise, const real* pointwise,
                  real* y, cudaStream_t stream) {
  separable(s, x, depthwise, pointwise, y, stream);
}
