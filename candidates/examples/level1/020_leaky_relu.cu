// Starts a program: it asks nvidia-smi, for a block size that suits the GPU.
// Expected: policy_violation
#include "task.h"

#include <cstdlib>

__global__ void leaky_relu(const float* x, float* y, float slope, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : slope * x[i];
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  const int block = std::system("nvidia-smi | grep -q H100") == 0 ? 512 : 256;
  leaky_relu<<<(n + block - 1) / block, block, 0, stream>>>(x, y, float(s.negative_slope), n);
}
