#include "task.h"

#include <kb/axis.cuh>

struct SquaredError {
  __device__ float operator()(float prediction, float target) const {
    return (prediction - target) * (prediction - target);
  }
};

void task::launch(const Sizes& s, const real* predictions, const real* targets, real* loss,
                  cudaStream_t stream) {
  const int64_t n = s.batch_size * s.input_shape[0];
  kb::launch_sum(stream, n, SquaredError{}, n, loss, predictions, targets);
}
