// Kernels with a race, and their twins without: `races <name>` launches one as often as a judging
// does and prints how many launches went wrong. races_test.cpp says which are to be found.
#include <cuda_runtime.h>

#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr int launches = 24, threads = 128, warps = threads / 32, blocks = 12;

// --- shared memory used again too early ------------------------------------------------------

template <bool right>
__device__ float block_sum(float value) {
  __shared__ float sums[warps];
  if (right) __syncthreads();
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffff, value, step);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  for (float each : sums) sum += each;
  return sum;
}
template <bool right>
__global__ void reused_sums(float* y) {
  const float first = block_sum<right>(1), second = block_sum<right>(2);
  y[blockIdx.x * threads + threadIdx.x] = first == threads && second == 2 * threads ? 1 : 0;
}

template <bool right>
__global__ void reused_broadcast(float* y) {
  __shared__ float value;
  float sum = 0;
  for (int round = 0; round < 3; ++round) {
    if (threadIdx.x == 37) value = round + 1;
    __syncthreads();
    sum += value;
    if (right) __syncthreads();
  }
  y[blockIdx.x * threads + threadIdx.x] = sum == 6 ? 1 : 0;
}

template <bool right>
__global__ void reused_tile(float* y) {
  __shared__ float tile[threads];
  float sum = 0;
  for (int round = 0; round < 3; ++round) {
    tile[threadIdx.x] = round + 1;
    __syncthreads();
    sum += tile[threads - 1 - threadIdx.x];
    if (right) __syncthreads();
  }
  y[blockIdx.x * threads + threadIdx.x] = sum == 6 ? 1 : 0;
}

// --- an order of blocks taken for granted ----------------------------------------------------

__device__ unsigned arrived;

template <bool right>
__global__ void last_block(float* y, float* partial) {
  if (threadIdx.x > 0) return;
  partial[blockIdx.x] = 1;
  __threadfence();
  const bool last =
      right ? atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1 : blockIdx.x == gridDim.x - 1;
  if (!last) return;
  float sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += partial[i];
  for (int i = 0; i < blocks * threads; ++i) y[i] = sum == blocks ? 1 : 0;
}

template <bool right>
__global__ void block_before(float* y, float* counts) {
  if (threadIdx.x == 0)
    counts[blockIdx.x] = right || blockIdx.x == 0 ? blockIdx.x + 1 : counts[blockIdx.x - 1] + 1;
  y[blockIdx.x * threads + threadIdx.x] = 1;
}
__global__ void check_counts(float* y, const float* counts) {
  for (int i = 0; i < blocks; ++i)
    if (counts[i] != i + 1) y[0] = 0;
}

template <bool right>
__global__ void first_block_clears(float* y, float* sum) {
  if (!right && blockIdx.x == 0 && threadIdx.x == 0) *sum = 0;
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(sum, 1.0f);
  y[blockIdx.x * threads + threadIdx.x] = 1;
}
__global__ void check_sum(float* y, const float* sum, float expected) {
  if (*sum != expected) y[0] = 0;
}

// --- updates of device memory that nothing orders --------------------------------------------

template <bool right>
__global__ void threads_add(float* y, float* sum) {
  if (right)
    atomicAdd(sum + blockIdx.x, 1.0f);
  else
    sum[blockIdx.x] += 1;
  y[blockIdx.x * threads + threadIdx.x] = 1;
}
template <bool right>
__global__ void warps_add(float* y, float* sum) {
  float value = 1;
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffff, value, step);
  if (threadIdx.x % 32 == 0) {
    if (right)
      atomicAdd(sum + blockIdx.x, value);
    else
      sum[blockIdx.x] += value;
  }
  y[blockIdx.x * threads + threadIdx.x] = 1;
}
template <bool right>
__global__ void threads_count(float* y, float* counts) {
  float* const count = counts + blockIdx.x * 4 + threadIdx.x % 4;
  if (right)
    atomicAdd(count, 4.0f);
  else
    *count += 4;
  y[blockIdx.x * threads + threadIdx.x] = 1;
}
template <bool right>
__global__ void blocks_add(float* y, float* sums) {
  float* const sum = sums + blockIdx.x;  // shared by the blocks of a column
  if (threadIdx.x == 0) {
    if (right)
      atomicAdd(sum, threads / 4.0f);
    else
      *sum += threads / 4.0f;
  }
  if (blockIdx.y == 0) y[blockIdx.x * threads + threadIdx.x] = 1;
}
// The same by blocks that write more than what is compared of one block before its rest runs
// without isolation.
constexpr int wide_threads = 1024, wide_pages = 20;
template <bool right>
__global__ void wide_blocks_add(float* y, float* sums, float* wide) {
  const int block = blockIdx.x * gridDim.y + blockIdx.y;
  if (threadIdx.x == 0) {
    if (right)
      atomicAdd(sums + blockIdx.x, threads / 4.0f);
    else
      sums[blockIdx.x] += threads / 4.0f;
  }
  for (int i = 0; i < wide_pages; ++i)
    wide[(block * wide_pages + i) * wide_threads + threadIdx.x] = 1;
  if (blockIdx.y == 0 && threadIdx.x < threads) y[blockIdx.x * threads + threadIdx.x] = 1;
}
__global__ void check_sums(float* y, const float* sums, int count) {
  for (int i = 0; i < count; ++i)
    if (sums[i] != threads) y[0] = 0;
}

// --- and of shared memory, in any block and between warps ------------------------------------

template <bool right>
__global__ void one_block_adds(float* y) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  if (right || blockIdx.x != 5)
    atomicAdd(&sum, 1);
  else
    sum += 1;
  __syncthreads();
  y[blockIdx.x * threads + threadIdx.x] = sum == threads ? 1 : 0;
}
template <bool right>
__global__ void warps_add_shared(float* y) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  float value = 1;
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffff, value, step);
  if (threadIdx.x % 32 == 0) {
    if (right)
      atomicAdd(&sum, value);
    else
      sum += value;
  }
  __syncthreads();
  y[blockIdx.x * threads + threadIdx.x] = sum == threads ? 1 : 0;
}

template <bool right>
void add_kernels(std::map<std::string, std::function<void(float*, float*)>>& all) {
  const std::string twin = right ? "_right" : "";
  all["reused_sums" + twin] = [](float* y, float*) { reused_sums<right><<<blocks, threads>>>(y); };
  all["reused_broadcast" + twin] = [](float* y, float*) {
    reused_broadcast<right><<<blocks, threads>>>(y);
  };
  all["reused_tile" + twin] = [](float* y, float*) { reused_tile<right><<<blocks, threads>>>(y); };
  all["last_block" + twin] = [](float* y, float* s) {
    last_block<right><<<blocks, threads>>>(y, s);
  };
  all["block_before" + twin] = [](float* y, float* s) {
    block_before<right><<<blocks, threads>>>(y, s);
    check_counts<<<1, 1>>>(y, s);
  };
  all["first_block_clears" + twin] = [](float* y, float* s) {
    first_block_clears<right><<<blocks, threads>>>(y, s);
    check_sum<<<1, 1>>>(y, s, blocks);
  };
  all["threads_add" + twin] = [](float* y, float* s) {
    threads_add<right><<<blocks, threads>>>(y, s);
    check_sums<<<1, 1>>>(y, s, blocks);
  };
  all["warps_add" + twin] = [](float* y, float* s) {
    warps_add<right><<<blocks, threads>>>(y, s);
    check_sums<<<1, 1>>>(y, s, blocks);
  };
  all["threads_count" + twin] = [](float* y, float* s) {
    threads_count<right><<<blocks, threads>>>(y, s);
    check_sums<<<1, 1>>>(y, s, 4 * blocks);
  };
  all["blocks_add" + twin] = [](float* y, float* s) {
    blocks_add<right><<<dim3(blocks, 4), threads>>>(y, s);
    check_sums<<<1, 1>>>(y, s, blocks);
  };
  all["wide_blocks_add" + twin] = [](float* y, float* s) {
    static float* wide = nullptr;
    if (wide == nullptr) cudaMalloc(&wide, blocks * 4 * wide_pages * wide_threads * sizeof(float));
    wide_blocks_add<right><<<dim3(blocks, 4), wide_threads>>>(y, s, wide);
    check_sums<<<1, 1>>>(y, s, blocks);
  };
  all["one_block_adds" + twin] = [](float* y, float*) {
    one_block_adds<right><<<blocks, threads>>>(y);
  };
  all["warps_add_shared" + twin] = [](float* y, float*) {
    warps_add_shared<right><<<blocks, threads>>>(y);
  };
}

}  // namespace

int main(int count, char** values) {
  std::map<std::string, std::function<void(float*, float*)>> kernels;
  add_kernels<false>(kernels);
  add_kernels<true>(kernels);
  if (count != 2 || kernels.count(values[1]) == 0) return 2;
  const std::size_t n = blocks * threads;
  std::vector<float> host(n);
  float *y = nullptr, *scratch = nullptr;
  cudaMalloc(&y, n * sizeof(float));
  cudaMalloc(&scratch, n * sizeof(float));
  int wrong = 0;
  for (int i = 0; i < launches; ++i) {
    cudaMemset(y, 0, n * sizeof(float));
    cudaMemset(scratch, 0, n * sizeof(float));
    kernels[values[1]](y, scratch);
    cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess;
    for (float each : host) right = right && each == 1;
    wrong += !right;
  }
  std::printf("%d of %d launches wrong\n", wrong, launches);
  return 0;
}
