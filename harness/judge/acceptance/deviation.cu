// Each thread strides over the arrays; warps, then blocks, add up.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>

#include "base/cuda_error.h"
#include "judge/acceptance/deviation.h"

namespace kb {
namespace {

constexpr int threads = 256;

constexpr char doing[] = "check an output";

__device__ void add_element(Deviation& d, float got, float expected, float per_value,
                            float row_limit) {
  if (!isfinite(got) || !isfinite(expected)) {
    ++d.not_finite;
    return;
  }
  const double off = static_cast<double>(got) - static_cast<double>(expected);
  d.error_squared += off * off;
  d.expected_squared += static_cast<double>(expected) * expected;
  d.max_excess =
      fmaxf(d.max_excess, fabsf(static_cast<float>(off)) - per_value * fabsf(expected) - row_limit);
}

// Elements that one thread loads at a time.
template <class T>
struct alignas(4 * sizeof(T)) Four {
  T at[4];
};

template <class T>
__device__ bool is_aligned(const T* elements) {
  return reinterpret_cast<uintptr_t>(elements) % alignof(Four<T>) == 0;
}

template <class T>
__global__ void accumulate(const T* got, const T* expected, int64_t count, float per_value,
                           const float* row_limits, int64_t columns, Deviation* result) {
  Deviation d{};
  const int64_t stride = int64_t{gridDim.x} * threads;
  const int64_t first = int64_t{blockIdx.x} * threads + threadIdx.x;
  const int64_t vectors = is_aligned(got) && is_aligned(expected) ? count / 4 : 0;
  for (int64_t i = first; i < vectors; i += stride) {
    const Four<T> c = reinterpret_cast<const Four<T>*>(got)[i];
    const Four<T> y = reinterpret_cast<const Four<T>*>(expected)[i];
    for (int j = 0; j < 4; ++j) {
      add_element(d, static_cast<float>(c.at[j]), static_cast<float>(y.at[j]), per_value,
                  row_limits[(4 * i + j) / columns]);
    }
  }
  for (int64_t i = vectors * 4 + first; i < count; i += stride) {
    add_element(d, static_cast<float>(got[i]), static_cast<float>(expected[i]), per_value,
                row_limits[i / columns]);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    d.error_squared += __shfl_down_sync(~0u, d.error_squared, offset);
    d.expected_squared += __shfl_down_sync(~0u, d.expected_squared, offset);
    d.max_excess = fmaxf(d.max_excess, __shfl_down_sync(~0u, d.max_excess, offset));
    d.not_finite += __shfl_down_sync(~0u, d.not_finite, offset);
  }
  if (threadIdx.x % 32 != 0) return;
  atomicAdd(&result->error_squared, d.error_squared);
  atomicAdd(&result->expected_squared, d.expected_squared);
  // Both are at least zero, and such floats are ordered like their bits.
  atomicMax(reinterpret_cast<int*>(&result->max_excess), __float_as_int(d.max_excess));
  atomicAdd(&result->not_finite, d.not_finite);
}

Deviation* allocate() {
  Deviation* device = nullptr;
  check(cudaMalloc(reinterpret_cast<void**>(&device), sizeof *device), doing);
  return device;
}

}  // namespace

template <class T>
Deviation measure_deviation(const T* got, const T* expected, int64_t count, float per_value,
                            const float* row_limits, int64_t columns, cudaStream_t stream) {
  constexpr int blocks = 1024;
  static Deviation* const device = allocate();  // for the life of the process
  check(cudaMemsetAsync(device, 0, sizeof(Deviation), stream), doing);
  accumulate<<<blocks, threads, 0, stream>>>(got, expected, count, per_value, row_limits, columns,
                                             device);
  check(cudaGetLastError(), doing);
  Deviation result{};
  check(cudaMemcpyAsync(&result, device, sizeof result, cudaMemcpyDeviceToHost, stream), doing);
  check(cudaStreamSynchronize(stream), doing);
  return result;
}

template Deviation measure_deviation(const float*, const float*, int64_t, float, const float*,
                                     int64_t, cudaStream_t);
template Deviation measure_deviation(const __half*, const __half*, int64_t, float, const float*,
                                     int64_t, cudaStream_t);
template Deviation measure_deviation(const __nv_bfloat16*, const __nv_bfloat16*, int64_t, float,
                                     const float*, int64_t, cudaStream_t);

}  // namespace kb
