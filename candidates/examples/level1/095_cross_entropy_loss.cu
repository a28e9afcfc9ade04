// Wrong signature: task.h declares targets as const int64_t*, not const int*.
// Expected: compile_error
#include "task.h"

// One thread per row; adds the rows' shares of the mean to *loss.
__global__ void cross_entropy(const float* predictions, const int* targets, float* loss,
                              int64_t rows, int64_t classes) {
  const int64_t row = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  predictions += row * classes;
  float max = predictions[0], sum = 0;
  for (int64_t i = 1; i < classes; ++i) max = fmaxf(max, predictions[i]);
  for (int64_t i = 0; i < classes; ++i) sum += expf(predictions[i] - max);
  atomicAdd(loss, (logf(sum) + max - predictions[targets[row]]) / rows);
}

void task::launch(const Sizes& s, const float* predictions, const int* targets, float* loss,
                  cudaStream_t stream) {
  cudaMemsetAsync(loss, 0, sizeof(float), stream);
  cross_entropy<<<(s.batch_size + 255) / 256, 256, 0, stream>>>(predictions, targets, loss,
                                                                s.batch_size, s.num_classes);
}
