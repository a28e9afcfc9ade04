#include "task.h"

__device__ float leaky_relu(float x, float slope) { return x > 0 ? x : slope * x; }

// One float4 per thread; the first threads also take the tail that is not a multiple of four.
__global__ void apply(const float* x, float* y, float slope, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x, tail = n / 4 * 4 + i;
  if (i < n / 4) {
    const float4 v = reinterpret_cast<const float4*>(x)[i];
    reinterpret_cast<float4*>(y)[i] = {leaky_relu(v.x, slope), leaky_relu(v.y, slope),
                                       leaky_relu(v.z, slope), leaky_relu(v.w, slope)};
  }
  if (tail < n) y[tail] = leaky_relu(x[tail], slope);
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  apply<<<n / 4 / 256 + 1, 256, 0, stream>>>(x, y, static_cast<float>(s.negative_slope), n);
}
