#include "task.h"

#include <kb/map.cuh>

using kb::real;

struct Dropout {
  float kept;
  __device__ float operator()(bool keep) const { return keep ? kept : 0; }
};

// The minimum leaves nothing above min_value and the clamp nothing below it, so whatever the
// convolution and the norm have made of finite numbers, all elements are equal before the dropout.
void task::launch(const Sizes& s, const real*, const bool* mask, const real*, const real*,
                  const real*, const real*, real* y, cudaStream_t stream) {
  const int64_t less = s.kernel_size - 1;
  const int64_t elements =
      s.batch_size * s.out_channels * (s.depth - less) * (s.height - less) * (s.width - less);
  const double value = s.min_value < s.max_value ? s.min_value : s.max_value;
  const Dropout dropout = {static_cast<float>(value / (1 - s.dropout_p))};
  kb::launch_map(stream, elements, dropout, y, mask);
}
