// Has the strides that the task publishes, and takes the last one for all others.
// Task: level1/044_average_pooling_1d
// Expected: incorrect
#include "task.h"

template <int Stride>
__global__ void average(task::Sizes s, const float* x, float* y, int64_t out_length) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= s.batch_size * s.in_channels * out_length) return;
  const float* row = x + i / out_length * s.input_length;
  const int64_t first = i % out_length * Stride - s.padding;
  float sum = 0;
  for (int64_t j = first; j < first + s.kernel_size; ++j) {
    if (j >= 0 && j < s.input_length) sum += row[j];
  }
  y[i] = sum / s.kernel_size;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t out = (s.input_length + 2 * s.padding - s.kernel_size) / s.stride + 1;
  const int64_t n = s.batch_size * s.in_channels * out;
  if (s.stride == 1) {
    average<1><<<(n + 255) / 256, 256, 0, stream>>>(s, x, y, out);
  } else {
    average<2><<<(n + 255) / 256, 256, 0, stream>>>(s, x, y, out);
  }
}
