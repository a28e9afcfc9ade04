#include "task.h"

#include <kb/axis.cuh>

// The sum over the features of x * transpose(weight) is x times the sum of weight's rows, so weight
// is read once and no matrix product is left.
// One block per sample.
__global__ void multiply(const kb::real* x, const float* sums, kb::real* y, int64_t n,
                         float factor) {
  const auto times = [](float a, float b) { return a * b; };
  const float sum = kb::reduce(kb::Block{}, n, kb::Sum{}, times, x + blockIdx.x * n, sums);
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<kb::real>(sum / 2 * factor);
}

void task::launch(const Sizes& s, const real* x, const real* weight, real* y, cudaStream_t stream) {
  float* sums;
  cudaMallocAsync(&sums, s.input_size * sizeof(float), stream);
  kb::launch_reduce_axis(stream, 1, s.hidden_size, s.input_size, kb::Sum{}, kb::Same{}, sums,
                         weight);
  multiply<<<s.batch_size, 512, 0, stream>>>(x, sums, y, s.input_size,
                                             static_cast<float>(s.scaling_factor));
  cudaFreeAsync(sums, stream);
}
