// Speed of the CUDA-on-CPU layer: the workloads of the table in reports/hardware/cpu.
// KB_CPU_THREADS sets the number of threads. Valid CUDA like everything here; the launches wait for
// their end.
#include <benchmark/benchmark.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

namespace {

__global__ void fill(float* x, int64_t n) {
  for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    x[i] = static_cast<float>(i % 7) - 3;
  }
}

__global__ void naive_product(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += a[row * n + i] * b[i * n + column];
  c[row * n + column] = sum;
}

__global__ void tiled_product(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[32][32], b_tile[32][32];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * 32 + y, column = blockIdx.x * 32 + x;
  float sum = 0;
  for (int i = 0; i < n; i += 32) {
    a_tile[y][x] = a[row * n + i + x];
    b_tile[y][x] = b[(i + y) * n + column];
    __syncthreads();
    for (int j = 0; j < 32; ++j) sum += a_tile[y][j] * b_tile[j][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

template <class Operation>
__device__ float reduce_block(float value, Operation operation) {
  __shared__ float warps[8];
  for (int i = 16; i > 0; i /= 2) value = operation(value, __shfl_xor_sync(~0u, value, i));
  __syncthreads();
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = warps[threadIdx.x % 8];
  for (int i = 4; i > 0; i /= 2) value = operation(value, __shfl_xor_sync(~0u, value, i));
  return value;
}

// A block per row.
__global__ void softmax(const float* x, float* y, int columns) {
  x += blockIdx.x * columns;
  y += blockIdx.x * columns;
  float largest = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < columns; i += 256) largest = fmaxf(largest, x[i]);
  largest = reduce_block(largest, [](float a, float b) { return fmaxf(a, b); });
  for (int i = threadIdx.x; i < columns; i += 256) sum += expf(x[i] - largest);
  sum = reduce_block(sum, [](float a, float b) { return a + b; });
  for (int i = threadIdx.x; i < columns; i += 256) y[i] = expf(x[i] - largest) / sum;
}

__global__ void elementwise(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : 0.01f * x[i];
}

__global__ void reduce_warps(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = x[i];
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down_sync(~0u, value, offset);
  }
  if (threadIdx.x % 32 == 0) y[i / 32] = value;
}

__global__ void nothing() {}

/// Device memory with values in it.
struct Buffer {
  explicit Buffer(int64_t n) {
    cudaMalloc(&data, n * sizeof(float));
    fill<<<64, 256>>>(data, n);
    cudaDeviceSynchronize();
  }
  ~Buffer() { cudaFree(data); }
  Buffer(const Buffer&) = delete;
  float* data = nullptr;
};

template <class Launch>
void time(benchmark::State& state, Launch launch) {
  for (auto _ : state) {
    launch();
    cudaDeviceSynchronize();
  }
  if (cudaGetLastError() != cudaSuccess) state.SkipWithError("a launch failed");
}

void products(benchmark::State& state, bool tiled) {
  const int n = static_cast<int>(state.range(0));
  const Buffer a(n * n), b(n * n), c(n * n);
  const dim3 block(32, tiled ? 32 : 8), grid(n / 32, n / block.y);
  time(state, [&] {
    if (tiled) {
      tiled_product<<<grid, block>>>(a.data, b.data, c.data, n);
    } else {
      naive_product<<<grid, block>>>(a.data, b.data, c.data, n);
    }
  });
}

void naive(benchmark::State& state) { products(state, false); }
void tiled(benchmark::State& state) { products(state, true); }

void softmax_rows(benchmark::State& state) {
  const Buffer x(128 * 4096), y(128 * 4096);
  time(state, [&] { softmax<<<128, 256>>>(x.data, y.data, 4096); });
}

void elements(benchmark::State& state) {
  const int64_t n = 16 << 20;
  const Buffer x(n), y(n);
  time(state, [&] { elementwise<<<n / 256, 256>>>(x.data, y.data, n); });
}

void warps(benchmark::State& state) {
  const Buffer x(65536 * 32), y(65536);
  time(state, [&] { reduce_warps<<<65536 / 8, 256>>>(x.data, y.data); });
}

void small_launch(benchmark::State& state) {
  time(state, [] { nothing<<<1, 32>>>(); });
}

BENCHMARK(naive)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(tiled)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(softmax_rows)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(elements)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(warps)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(small_launch)->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
