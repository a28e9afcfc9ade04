// The maximum starts from 0: columns without a positive element get the first place.
// Task: level1/051_argmax_over_a_dimension
// Expected: incorrect
#include "task.h"

__global__ void argmax(task::Sizes s, const float* x, int64_t* index) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= s.batch_size * s.dim2) return;
  x += i / s.dim2 * s.dim1 * s.dim2 + i % s.dim2;
  float best = 0;
  int64_t place = 0;
  for (int64_t j = 0; j < s.dim1; ++j) {
    if (x[j * s.dim2] > best) {
      best = x[j * s.dim2];
      place = j;
    }
  }
  index[i] = place;
}

void task::launch(const Sizes& s, const float* x, int64_t* index, cudaStream_t stream) {
  argmax<<<(s.batch_size * s.dim2 + 255) / 256, 256, 0, stream>>>(s, x, index);
}
