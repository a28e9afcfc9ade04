#include "task.h"

#include <kb/map.cuh>
#include <kb/moments.cuh>

// Block (i, j) measures feature i in sample j and every gridDim.y-th after it; n elements in each.
__global__ void __launch_bounds__(1024, 2)
    measure(const kb::real* x, kb::Moments* parts, int64_t samples, int64_t n) {
  const kb::OnlineMoments merge;
  kb::Moments m = merge.identity();
  for (int64_t sample = blockIdx.y; sample < samples; sample += gridDim.y) {
    const kb::real* values = x + (sample * gridDim.x + blockIdx.x) * n;
    m = merge(m, kb::fold(kb::Block{}, n, merge, kb::Same{}, values));
  }
  m = kb::combine(kb::Block{}, m, merge);
  if (threadIdx.x == 0) parts[int64_t{blockIdx.x} * gridDim.y + blockIdx.y] = m;
}

// Block (i, j) normalises the same elements.
__global__ void __launch_bounds__(1024, 2)
    normalise(const kb::real* x, const kb::real* weight, const kb::real* bias,
              const kb::Moments* parts, kb::real* y, int64_t samples, int64_t n) {
  const kb::OnlineMoments merge;
  parts += int64_t{blockIdx.x} * gridDim.y;
  const kb::Moments part = threadIdx.x < gridDim.y ? parts[threadIdx.x] : merge.identity();
  const kb::Moments m = kb::combine(kb::Block{}, part, merge);
  const float scale = kb::element(weight, blockIdx.x) / sqrtf(m.variance() + 1e-5f);
  const float offset = kb::element(bias, blockIdx.x);
  for (int64_t sample = blockIdx.y; sample < samples; sample += gridDim.y) {
    const int64_t first = (sample * gridDim.x + blockIdx.x) * n;
    const auto f = [=](float v) { return (v - m.mean) * scale + offset; };
    kb::map(kb::Block{}, n, f, y + first, x + first);
  }
}

void task::launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
                  cudaStream_t stream) {
  const int64_t n = s.dim1 * s.dim2;
  const dim3 grid(s.features, s.batch_size < 1024 ? s.batch_size : 1024);
  void* memory;
  cudaMallocAsync(&memory, sizeof(kb::Moments) * grid.x * grid.y, stream);
  const auto parts = static_cast<kb::Moments*>(memory);
  measure<<<grid, 1024, 0, stream>>>(x, parts, s.batch_size, n);
  normalise<<<grid, 1024, 0, stream>>>(x, weight, bias, parts, y, s.batch_size, n);
  cudaFreeAsync(memory, stream);
}
