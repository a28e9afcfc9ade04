#include "task.h"

#include <kb/pool.cuh>

void task::launch(const Sizes& s, const real* x, real* y, cudaStream_t stream) {
  const auto along = [&](int64_t length) {
    return kb::PoolAxis::of(length, s.kernel_size, s.stride, s.padding);
  };
  const auto elements = static_cast<float>(s.kernel_size * s.kernel_size * s.kernel_size);
  kb::launch_pool(stream,
                  {s.batch_size * s.channels, along(s.height), along(s.width), along(s.depth)},
                  kb::MeanOfWindow{elements}, x, y);
}
