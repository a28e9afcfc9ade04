// Sigmoid by __expf, four elements per thread.
// Task: level1/021_sigmoid
// Expected: pass
#include "task.h"

__device__ float sigmoid(float v) { return 1.0f / (1.0f + __expf(-v)); }

__global__ void map(const float* x, float* y, int64_t n) {
  const int64_t first = 4 * (int64_t{blockIdx.x} * blockDim.x + threadIdx.x);
  if (first + 4 <= n) {
    const float4 v = *reinterpret_cast<const float4*>(x + first);
    *reinterpret_cast<float4*>(y + first) =
        make_float4(sigmoid(v.x), sigmoid(v.y), sigmoid(v.z), sigmoid(v.w));
  } else {
    for (int64_t i = first; i < n; ++i) y[i] = sigmoid(x[i]);
  }
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  map<<<(n + 1023) / 1024, 256, 0, stream>>>(x, y, n);
}
