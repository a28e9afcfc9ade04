// Synchronises its whole grid.
// Task: level1/019_relu
// Expected: pass
#include "task.h"

#include <cooperative_groups.h>

// Two passes with the grid's barrier between them.
__global__ void relu(const float* x, float* y, int64_t n) {
  const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t stride = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = first; i < n; i += stride) y[i] = x[i];
  cooperative_groups::this_grid().sync();
  for (int64_t i = first; i < n; i += stride) y[i] = y[i] > 0 ? y[i] : 0;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  int64_t n = s.batch_size * s.dim;
  void* arguments[] = {&x, &y, &n};
  int device = 0, processors = 0, blocks = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, relu, 256, 0);
  cudaLaunchCooperativeKernel(relu, dim3(processors * blocks), dim3(256), arguments, 0, stream);
}
