// Kernels with one bug each. `planted <name>` runs one and prints the CUDA error and what came out;
// planted_test.cpp says what has to be reported.
#include <cuda_runtime.h>

#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr int n = 128;
float* buffer = nullptr;  // n floats

void report() {
  const cudaError_t launched = cudaGetLastError();
  const cudaError_t error = launched != cudaSuccess ? launched : cudaDeviceSynchronize();
  std::vector<float> host(n, 0.0f);
  if (error == cudaSuccess)
    cudaMemcpy(host.data(), buffer, n * sizeof(float), cudaMemcpyDeviceToHost);
  int bad = 0;
  for (int i = 0; i < n; ++i) bad += !(host[i] == float(i));
  std::printf("error %s, %d of %d values wrong%s\n", cudaGetErrorName(error), bad, n,
              bad > 0 && std::isnan(host[0]) ? ", NaN" : "");
}

__global__ void global_overrun(float* x) { x[threadIdx.x + n] = 1; }

template <int N>
__global__ void shared_overrun(float* x) {
  __shared__ float tile[N];
  tile[threadIdx.x + 1] = threadIdx.x;  // one too far
  __syncthreads();
  x[threadIdx.x] = tile[threadIdx.x];
}

__global__ void small_dynamic(float* x) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  x[threadIdx.x] = tile[n - 1 - (n - 1 - threadIdx.x)];
}

// Behind what the second launch gave it, on a page that only the first one needed.
__global__ void far_behind_dynamic(float* x) {
  extern __shared__ float tile[];
  float* const second = tile + 64 * n;
  second[threadIdx.x] = threadIdx.x;
  __syncthreads();
  x[threadIdx.x] = second[threadIdx.x];
}

__global__ void static_and_dynamic(float* x) {
  __shared__ float fixed[80 * n];
  extern __shared__ float tile[];
  fixed[threadIdx.x] = tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  x[threadIdx.x] = fixed[threadIdx.x] + 0 * tile[n - 1 - threadIdx.x];
}

// More than 48 KB, which the chosen architecture's own variant takes.
template <int bytes>
__global__ void large_static(float* x) {
  __shared__ float fixed[bytes / sizeof(float)];
  fixed[bytes / sizeof(float) - 1 - threadIdx.x] = threadIdx.x;
  __syncthreads();
  x[threadIdx.x] = fixed[bytes / sizeof(float) - 1 - threadIdx.x];
}

__global__ void missing_barrier(float* x) {
  __shared__ float tile[n];
  tile[threadIdx.x] = threadIdx.x;
  x[n - 1 - threadIdx.x] = tile[n - 1 - threadIdx.x];
}

__global__ void missing_second_barrier(float* x) {
  __shared__ float tile[n];
  float sum = 0;
  for (int round = 0; round < 2; ++round) {
    tile[threadIdx.x] = round * float(n - 1 - threadIdx.x);
    __syncthreads();
    sum += tile[n - 1 - threadIdx.x];  // the next round overwrites what others still read
  }
  x[threadIdx.x] = sum;
}

__global__ void in_place_scan(float* x) {
  __shared__ float tile[n];
  tile[threadIdx.x] = threadIdx.x == 0 ? 0.0f : 1.0f;
  __syncthreads();
  for (int step = 1; step < n; step *= 2) {
    if (threadIdx.x >= unsigned(step)) tile[threadIdx.x] += tile[threadIdx.x - step];
    __syncthreads();
  }
  x[threadIdx.x] = tile[threadIdx.x];
}

__global__ void unsynchronised_sum(float* x) { x[0] += threadIdx.x; }

// Each thread adds up its part in order, but the last step lacks an atomic.
__global__ void unsynchronised_shared_sum(float* x) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  sum += 1;
  __syncthreads();
  x[threadIdx.x] = sum == n ? threadIdx.x : -1.0f;
}

__global__ void unsynchronised_histogram(float* x) {
  __shared__ int counts[4];
  if (threadIdx.x < 4) counts[threadIdx.x] = 0;
  __syncthreads();
  ++counts[threadIdx.x % 4];
  __syncthreads();
  x[threadIdx.x] = counts[threadIdx.x % 4] == n / 4 ? threadIdx.x : -1.0f;
}

// A tree within a warp as before independent threads: no __syncwarp().
__global__ void warp_without_barrier(float* x) {
  __shared__ int sums[n];
  const int lane = threadIdx.x % 32;
  sums[threadIdx.x] = 1;
  for (int step = 16; step > 0; step /= 2) {
    if (lane < step) sums[threadIdx.x] += sums[threadIdx.x + step];
  }
  __syncthreads();
  x[threadIdx.x] = sums[threadIdx.x / 32 * 32] == 32 ? threadIdx.x : -1.0f;
}

// What is right: atomics, a lock, a flag of equal values, a tree with __syncwarp().
__global__ void synchronised_sums(float* x) {
  __shared__ int sum, locked, lock, flag, sums[n];
  if (threadIdx.x == 0) sum = locked = lock = flag = 0;
  __syncthreads();
  atomicAdd(&sum, 1);
#if !defined(__SANITIZE_THREAD__)  // which takes this for a race, as C++ does
  if (threadIdx.x % 3 == 1)
#else
  if (threadIdx.x == 0)
#endif
    flag = 1;
  for (bool done = false; !done;) {
    if (atomicCAS(&lock, 0, 1) != 0) continue;
    __threadfence_block();
    locked = locked + 1;
    __threadfence_block();
    atomicExch(&lock, 0);
    done = true;
  }
  const int lane = threadIdx.x % 32;
  sums[threadIdx.x] = 1;
  for (int step = 16; step > 0; step /= 2) {
    __syncwarp();
    if (lane < step) sums[threadIdx.x] += sums[threadIdx.x + step];
  }
  __syncthreads();
  const bool right = sum == n && locked == n && flag == 1 && sums[threadIdx.x / 32 * 32] == 32;
  x[threadIdx.x] = right ? threadIdx.x : -1.0f;
}

__global__ void unsynchronised_blocks(float* x) {
  x[threadIdx.x] = threadIdx.x + 0 * x[threadIdx.x];
}

__global__ void half_a_warp(float* x) {
  float value = threadIdx.x;
  if (threadIdx.x < 16)
    value += __shfl_down_sync(0xffffffff, value, 8);
  else
    __syncthreads();
  x[threadIdx.x] = value;
}

__global__ void half_of_each_warp(float* x) {
  const unsigned lane = threadIdx.x % 32, tile = lane / 8;
  float value = threadIdx.x;
  if (lane % 2 == 0)
    value += __shfl_down_sync(0xffu << 8 * tile, value, 2);
  else
    __syncthreads();
  x[threadIdx.x] = value;
}

__global__ void divergent_barrier(float* x) {
  if (threadIdx.x < 64)
    __syncthreads();
  else
    __syncthreads();
  x[threadIdx.x] = threadIdx.x;
}

__global__ void misaligned_vector(float* x) {
  float4* quads = reinterpret_cast<float4*>(x + 1);
  quads[threadIdx.x] = make_float4(1, 2, 3, 4);
}

__global__ void uninitialised_shared(float* x) {
  __shared__ float tile[n];
  x[threadIdx.x] = tile[threadIdx.x] * 0 + threadIdx.x;
}

__global__ void uninitialised_integer(float* x) {
  __shared__ int count;
  if (threadIdx.x < 1) count += 5;
  __syncthreads();
  x[threadIdx.x] = count == 5 ? threadIdx.x : -1.0f;
}

__global__ void unwritten_output(float* x) {
  if (threadIdx.x > 0) x[threadIdx.x] = threadIdx.x;
}

__global__ void failing_assertion(float* x) {
  assert(threadIdx.x != 100);
  x[threadIdx.x] = threadIdx.x;
}

__global__ void null_pointer(float* x) {
  float* nowhere = x == nullptr ? x : nullptr;
  nowhere[threadIdx.x] = 1;
}

__device__ int deep(int level, volatile int* above) {
  volatile int frame[512];
  frame[level % 512] = level;
  return level == 0 ? above[0] : deep(level - 1, frame) + frame[level % 512];
}
__global__ void stack_overflow(float* x) {
  volatile int start = 1;
  x[0] = deep(1 << 20, &start);
}

__global__ void large_arrays(float* x) {
  volatile float local[50000];
  for (int i = 0; i < 50000; ++i) local[i] = i;
  __syncthreads();
  x[threadIdx.x] = local[threadIdx.x] + local[49999] - 49999;
}

__global__ void endless(volatile float* x) {
  while (x[0] != 1) {
  }
}

__global__ void fill(float* x) { x[threadIdx.x] = threadIdx.x; }
__global__ void divide(float* x, int zero) { x[threadIdx.x] = threadIdx.x / zero; }
__global__ void absent_lane(float* x) {
  x[threadIdx.x] = threadIdx.x + 0 * __shfl_down_sync(0xffffffff, float(threadIdx.x), 16);
}
__global__ void spill_over(float* x) { x[threadIdx.x + 1] = threadIdx.x; }

void run(const char* name) {
  auto is = [&](const char* other) { return !std::strcmp(name, other); };
  if (is("global_overrun")) global_overrun<<<1, n>>>(buffer);
  if (is("padding_overrun")) {
    cudaMalloc(&buffer, 100 * sizeof(float));
    spill_over<<<1, 100>>>(buffer);
  }
  if (is("shared_overrun")) shared_overrun<n><<<1, n>>>(buffer);
  if (is("small_dynamic")) small_dynamic<<<1, n, 100 * sizeof(float)>>>(buffer);
  if (is("far_behind_dynamic")) {
    far_behind_dynamic<<<1, n, 65 * n * sizeof(float)>>>(buffer);
    cudaDeviceSynchronize();
    far_behind_dynamic<<<1, n, n * sizeof(float)>>>(buffer);
  }
  if (is("static_and_dynamic")) static_and_dynamic<<<1, n, 80 * n * sizeof(float)>>>(buffer);
  if (is("static_and_dynamic_asked")) {
    const int bytes = 80 * n * sizeof(float);
    cudaFuncSetAttribute(static_and_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    static_and_dynamic<<<1, n, bytes>>>(buffer);
  }
  if (is("large_static")) large_static<64 << 10><<<1, n>>>(buffer);
  if (is("too_large_static")) large_static<228 << 10><<<1, n>>>(buffer);
  if (is("missing_barrier")) missing_barrier<<<1, n>>>(buffer);
  if (is("missing_second_barrier")) missing_second_barrier<<<1, n>>>(buffer);
  if (is("in_place_scan")) in_place_scan<<<1, n>>>(buffer);
  if (is("unsynchronised_sum")) unsynchronised_sum<<<1, n>>>(buffer);
  if (is("unsynchronised_shared_sum")) unsynchronised_shared_sum<<<1, n>>>(buffer);
  if (is("unsynchronised_histogram")) unsynchronised_histogram<<<1, n>>>(buffer);
  if (is("warp_without_barrier")) warp_without_barrier<<<1, n>>>(buffer);
  if (is("synchronised_sums")) synchronised_sums<<<1, n>>>(buffer);
  if (is("unsynchronised_blocks")) unsynchronised_blocks<<<2, n>>>(buffer);
  if (is("half_a_warp")) half_a_warp<<<1, n>>>(buffer);
  if (is("half_of_each_warp")) half_of_each_warp<<<1, n>>>(buffer);
  if (is("divergent_barrier")) divergent_barrier<<<1, n>>>(buffer);
  if (is("misaligned_vector")) misaligned_vector<<<1, 8>>>(buffer);
  if (is("uninitialised_shared")) uninitialised_shared<<<1, n>>>(buffer);
  if (is("uninitialised_integer")) uninitialised_integer<<<1, n>>>(buffer);
  if (is("unwritten_output")) unwritten_output<<<1, n>>>(buffer);
  if (is("failing_assertion")) failing_assertion<<<1, n>>>(buffer);
  if (is("null_pointer")) null_pointer<<<1, n>>>(buffer);
  if (is("stack_overflow")) stack_overflow<<<1, 1>>>(buffer);
  if (is("large_arrays")) large_arrays<<<1, n>>>(buffer);
  if (is("endless")) endless<<<1, n>>>(buffer);
  if (is("use_after_free")) {
    cudaFree(buffer);
    fill<<<1, n>>>(buffer);
  }
  if (is("host_dereference")) std::printf("%g\n", buffer[3]);
  if (is("division_by_zero")) divide<<<1, n>>>(buffer, 0);
  if (is("absent_lane")) absent_lane<<<1, 48>>>(buffer);
  if (is("block_too_large")) fill<<<1, 2 * 1024>>>(buffer);
  if (is("unchecked_launch")) {
    fill<<<1, 2 * 1024>>>(buffer);
    fill<<<1, n>>>(buffer);
  }
  if (is("none")) fill<<<1, n>>>(buffer);
}

}  // namespace

int main(int count, char** values) {
  if (count != 2) return 2;
  cudaMalloc(&buffer, n * sizeof(float));
  run(values[1]);
  report();
  return 0;
}
