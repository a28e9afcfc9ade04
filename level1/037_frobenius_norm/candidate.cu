#include "task.h"

#include <kb/map.cuh>
#include <kb/reduce.cuh>

// Up to 1024 blocks, each with its part of the sum.
__global__ void sum_squares(const kb::real* x, float* parts, int64_t n) {
  const float part = kb::fold(kb::Grid{}, n, kb::Sum{}, kb::Square{}, x);
  const float sum = kb::combine(kb::Block{}, part, kb::Sum{});
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

// The same grid; every block adds up the parts for itself.
__global__ void divide(const kb::real* x, const float* parts, kb::real* y, int64_t n) {
  const float norm = sqrtf(kb::reduce(kb::Block{}, gridDim.x, kb::Sum{}, kb::Same{}, parts));
  kb::map(
      kb::Grid{}, n, [=](float v) { return v / norm; }, y, x);
}

void task::launch(const Sizes& s, const real* x, real* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.features * s.dim1 * s.dim2, wanted = (n + 4095) / 4096;
  const unsigned blocks = wanted < 1024 ? wanted : 1024;
  void* parts;
  cudaMallocAsync(&parts, blocks * sizeof(float), stream);
  sum_squares<<<blocks, 1024, 0, stream>>>(x, static_cast<float*>(parts), n);
  divide<<<blocks, 1024, 0, stream>>>(x, static_cast<float*>(parts), y, n);
  cudaFreeAsync(parts, stream);
}
