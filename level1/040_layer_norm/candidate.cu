#include "task.h"

#include <kb/map.cuh>
#include <kb/moments.cuh>

// The blocks (i, j) measure sample i of n elements, each its part j.
__global__ void __launch_bounds__(1024, 2)
    measure(const kb::real* x, kb::Moments* parts, int64_t n) {
  const kb::OnlineMoments merge;
  const kb::Moments mine = kb::fold(kb::GridColumn{}, n, merge, kb::Same{}, x + blockIdx.x * n);
  const kb::Moments m = kb::combine(kb::Block{}, mine, merge);
  if (threadIdx.x == 0) parts[blockIdx.x * gridDim.y + blockIdx.y] = m;
}

// The blocks (i, j) normalise sample i.
__global__ void __launch_bounds__(1024, 2)
    normalise(const kb::real* x, const kb::real* weight, const kb::real* bias,
              const kb::Moments* parts, kb::real* y, int64_t n) {
  const kb::OnlineMoments merge;
  parts += blockIdx.x * gridDim.y;
  const kb::Moments part = threadIdx.x < gridDim.y ? parts[threadIdx.x] : merge.identity();
  const kb::Moments m = kb::combine(kb::Block{}, part, merge);
  const float scale = 1 / sqrtf(m.variance() + 1e-5f);
  const auto f = [=](float v, float w, float b) { return (v - m.mean) * scale * w + b; };
  kb::map(kb::GridColumn{}, n, f, y + blockIdx.x * n, x + blockIdx.x * n, weight, bias);
}

void task::launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
                  cudaStream_t stream) {
  const int64_t n = s.features * s.dim1 * s.dim2, wanted = (n + 16383) / 16384;
  const dim3 grid(s.batch_size, wanted < 1024 ? wanted : 1024);
  void* memory;
  cudaMallocAsync(&memory, grid.x * grid.y * sizeof(kb::Moments), stream);
  const auto parts = static_cast<kb::Moments*>(memory);
  measure<<<grid, 1024, 0, stream>>>(x, parts, n);
  normalise<<<grid, 1024, 0, stream>>>(x, weight, bias, parts, y, n);
  cudaFreeAsync(memory, stream);
}
