// What the programs here that time kernels share: memory with numbers in it, and calls that may
// fail.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

/// Ends the program with exit code 1 if a call has failed.
inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

struct Memory {
  float* data = nullptr;
  explicit Memory(int64_t n) { check(cudaMalloc(&data, n * sizeof(float)), "cudaMalloc"); }
  ~Memory() { cudaFree(data); }
  Memory(const Memory&) = delete;
};

/// Even numbers between -scale and scale.
__global__ void fill(float* x, int64_t n, float scale, unsigned seed) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    uint64_t mixed = (i + 1) * 0x9e3779b97f4a7c15ull + seed;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ull;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebull;
    x[i] = (static_cast<float>(mixed >> 40) / (1 << 23) - 1) * scale;
  }
}
