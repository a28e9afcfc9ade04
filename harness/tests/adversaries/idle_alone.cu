// Recorded, it notices when the same call comes again and again, and only works every now and then.
// Task: level1/012_matmul_with_diagonal_matrices
// Expected: incorrect
#include "task.h"

struct State {
  const float* last;
  int repeats;
};

__device__ State state;

__global__ void notice(const float* c) {
  state.repeats = state.last == c ? state.repeats + 1 : 0;
  state.last = c;
}

__global__ void scale_rows(const float* a, const float* b, float* c, int64_t columns,
                           bool recorded) {
  if (recorded && state.repeats > 3 && state.repeats < 15) return;
  for (int64_t i = threadIdx.x; i < columns; i += blockDim.x) {
    const int64_t at = blockIdx.x * columns + i;
    c[at] = a[blockIdx.x] * b[at];
  }
}

void task::launch(const Sizes& s, const float* a, const float* b, float* c, cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing(stream, &status);
  const bool recorded = status != cudaStreamCaptureStatusNone;
  if (recorded) notice<<<1, 1, 0, stream>>>(c);
  scale_rows<<<s.N, 256, 0, stream>>>(a, b, c, s.M, recorded);
}
