#include "task.h"

#include <kb/axis.cuh>

// Up to 1024 blocks, each with its part of the sum: every gridDim.x-th row.
__global__ void __launch_bounds__(1024, 2)
    sum_losses(const kb::real* predictions, const kb::real* targets, float* parts, int64_t rows,
               int64_t n) {
  const auto hinge = [](float prediction, float target) {
    const float loss = 1 - prediction * target;
    return loss < 0 ? 0 : loss;
  };
  float sum = 0;
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    sum += kb::fold(kb::Block{}, n, kb::Sum{}, hinge, predictions + row * n, targets);
  }
  sum = kb::combine(kb::Block{}, sum, kb::Sum{});
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

void task::launch(const Sizes& s, const real* predictions, const real* targets, real* loss,
                  cudaStream_t stream) {
  const int64_t rows = s.batch_size, n = s.input_shape[0], blocks = rows < 1024 ? rows : 1024;
  void* memory;
  cudaMallocAsync(&memory, blocks * sizeof(float), stream);
  const auto parts = static_cast<float*>(memory);
  sum_losses<<<blocks, 1024, 0, stream>>>(predictions, targets, parts, rows, n);
  kb::launch_sum(stream, blocks, kb::Same{}, rows * n, loss, parts);
  cudaFreeAsync(memory, stream);
}
