#include "task.h"

#include <kb/axis.cuh>

struct Huber {
  __device__ float operator()(float prediction, float target) const {
    const float d = fabsf(prediction - target);
    return d < 1 ? d * d / 2 : d - 0.5f;
  }
};

void task::launch(const Sizes& s, const real* predictions, const real* targets, real* loss,
                  cudaStream_t stream) {
  const int64_t n = s.batch_size * s.input_shape[0];
  kb::launch_sum(stream, n, Huber{}, n, loss, predictions, targets);
}
