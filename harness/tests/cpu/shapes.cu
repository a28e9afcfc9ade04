// Random launch shapes against plain loops: which threads run, block barriers, shuffles and shared
// memory for every kind of partial warp and odd block.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

__device__ unsigned linear(uint3 at, dim3 size) { return at.x + size.x * (at.y + size.y * at.z); }

// Every thread leaves a trace of its coordinates exactly once.
__global__ void cover(unsigned* visits, unsigned* sums) {
  const unsigned block = linear(blockIdx, gridDim), threads = blockDim.x * blockDim.y * blockDim.z;
  const unsigned i = block * threads + linear(threadIdx, blockDim);
  atomicAdd(visits + i, 1u);
  sums[i] = threadIdx.x + 31 * threadIdx.y + 977 * threadIdx.z + 7 * blockIdx.x + 13 * blockIdx.y +
            17 * blockIdx.z;
}

// An inclusive scan over the block with barriers, in dynamic shared memory.
__global__ void scan(const unsigned* x, unsigned* y) {
  extern __shared__ unsigned values[];
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z, t = linear(threadIdx, blockDim);
  const unsigned base = linear(blockIdx, gridDim) * threads;
  values[t] = x[base + t];
  for (unsigned step = 1; step < threads; step *= 2) {
    __syncthreads();
    const unsigned add = t >= step ? values[t - step] : 0;
    __syncthreads();
    values[t] += add;
  }
  y[base + t] = values[t];
}

// A sum over each warp, whatever part of it exists.
__global__ void warp_sums(const unsigned* x, unsigned* y) {
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z, t = linear(threadIdx, blockDim);
  const unsigned base = linear(blockIdx, gridDim) * threads, lane = t % 32, first = t - lane;
  const unsigned lanes = threads - first < 32 ? threads - first : 32;
  const unsigned mask = lanes == 32 ? ~0u : (1u << lanes) - 1;
  unsigned sum = 0;
  for (unsigned source = 0; source < lanes; ++source) sum += __shfl_sync(mask, x[base + t], source);
  y[base + t] = sum + __ballot_sync(mask, 1);
}

bool check(bool good, const char* what, dim3 grid, dim3 block) {
  if (!good)
    std::printf("%s differs for grid (%u,%u,%u), block (%u,%u,%u)\n", what, grid.x, grid.y, grid.z,
                block.x, block.y, block.z);
  return good;
}

bool try_shape(dim3 grid, dim3 block, std::mt19937& random) {
  const unsigned threads = block.x * block.y * block.z, n = grid.x * grid.y * grid.z * threads;
  std::vector<unsigned> x(n), got(n), more(n), expected(n);
  for (auto& value : x) value = random() % 1000;
  unsigned *dx = nullptr, *dy = nullptr, *dz = nullptr;
  cudaMalloc(&dx, n * 4), cudaMalloc(&dy, n * 4), cudaMalloc(&dz, n * 4);
  cudaMemcpy(dx, x.data(), n * 4, cudaMemcpyHostToDevice);
  auto read = [&](unsigned* from, std::vector<unsigned>& to) {
    return cudaMemcpy(to.data(), from, n * 4, cudaMemcpyDeviceToHost) == cudaSuccess;
  };
  bool good = true;

  cudaMemset(dy, 0, n * 4);
  cover<<<grid, block>>>(dy, dz);
  good &= read(dy, got) && read(dz, more);
  unsigned i = 0;
  for (unsigned bz = 0; bz < grid.z; ++bz)
    for (unsigned by = 0; by < grid.y; ++by)
      for (unsigned bx = 0; bx < grid.x; ++bx)
        for (unsigned tz = 0; tz < block.z; ++tz)
          for (unsigned ty = 0; ty < block.y; ++ty)
            for (unsigned tx = 0; tx < block.x; ++tx)
              expected[i++] = tx + 31 * ty + 977 * tz + 7 * bx + 13 * by + 17 * bz;
  good &= check(got == std::vector<unsigned>(n, 1) && more == expected, "coverage", grid, block);

  scan<<<grid, block, threads * 4>>>(dx, dy);
  good &= read(dy, got);
  for (i = 0; i < n; ++i) expected[i] = x[i] + (i % threads ? expected[i - 1] : 0);
  good &= check(got == expected, "scan", grid, block);

  warp_sums<<<grid, block>>>(dx, dy);
  good &= read(dy, got);
  for (i = 0; i < n; ++i) {
    const unsigned t = i % threads, first = i - t % 32, in_block = t - t % 32;
    const unsigned lanes = threads - in_block < 32 ? threads - in_block : 32;
    expected[i] = lanes == 32 ? ~0u : (1u << lanes) - 1;
    for (unsigned k = 0; k < lanes; ++k) expected[i] += x[first + k];
  }
  good &= check(got == expected, "warp sum", grid, block);

  cudaFree(dx), cudaFree(dy), cudaFree(dz);
  return good && cudaGetLastError() == cudaSuccess;
}

}  // namespace

int main(int count, char** values) {
  const int rounds = count > 1 ? std::atoi(values[1]) : 300;
  std::mt19937 random(20240607);
  int failed = 0;
  for (int round = 0; round < rounds; ++round) {
    auto up_to = [&](unsigned limit) { return 1 + random() % limit; };
    // Small blocks dominate; every tenth is as large as they come.
    const unsigned limit = round % 10 == 0 ? 1024 : 130;
    const unsigned bx = up_to(limit), by = up_to(limit / bx),
                   bz = up_to(std::min(64u, limit / bx / by));
    failed += !try_shape(dim3(up_to(5), up_to(4), up_to(3)), dim3(bx, by, bz), random);
  }
  std::printf("%d shapes, %d failed\n", rounds, failed);
  return failed > 0 || rounds <= 0;
}
