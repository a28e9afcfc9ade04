// A team of threads takes a chunk of a row at a time: a warp where rows are short, else a block.
#include "judge/acceptance/row_passes.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>

#include "base/cuda_error.h"
#include "judge/acceptance/row_passes_cuda.h"

namespace kb {
namespace {

constexpr int threads = 256, warp = 32;
constexpr int64_t chunk = 8192;  // elements

__device__ double shuffled(double value, int distance) {
  return __shfl_down_sync(~0u, value, distance);
}
__device__ int64_t shuffled(int64_t value, int distance) {
  return __shfl_down_sync(~0u, static_cast<long long>(value), distance);
}

__device__ RowSums shuffled(const RowSums& s, int d) {
  return {shuffled(s.value_squared, d), shuffled(s.torch_squared, d), shuffled(s.error_squared, d),
          shuffled(s.largest_error, d), shuffled(s.known, d),         shuffled(s.off, d)};
}
__device__ RowExcess shuffled(const RowExcess& s, int d) {
  return {shuffled(s.error_squared, d),  shuffled(s.largest_error, d), shuffled(s.largest, d),
          shuffled(s.spread_squared, d), shuffled(s.spread_fourth, d), shuffled(s.wrong, d)};
}

__device__ void add_to(double& sum, double more) { atomicAdd(&sum, more); }
__device__ void add_to(int64_t& sum, int64_t more) {
  atomicAdd(reinterpret_cast<unsigned long long*>(&sum), static_cast<unsigned long long>(more));
}
// Both are at least zero, and such numbers are ordered like their bits.
__device__ void raise(double& largest, double value) {
  atomicMax(reinterpret_cast<unsigned long long*>(&largest),
            static_cast<unsigned long long>(__double_as_longlong(value)));
}

__device__ void add_to(RowSums& sums, const RowSums& more) {
  add_to(sums.value_squared, more.value_squared);
  add_to(sums.torch_squared, more.torch_squared);
  add_to(sums.error_squared, more.error_squared);
  raise(sums.largest_error, more.largest_error);
  add_to(sums.known, more.known);
  if (more.off > 0) add_to(sums.off, more.off);
}
__device__ void add_to(RowExcess& sums, const RowExcess& more) {
  add_to(sums.error_squared, more.error_squared);
  raise(sums.largest_error, more.largest_error);
  raise(sums.largest, more.largest);
  add_to(sums.spread_squared, more.spread_squared);
  add_to(sums.spread_fourth, more.spread_fourth);
  if (more.wrong > 0) add_to(sums.wrong, more.wrong);
}

// Only lane 0 has the sums of its warp.
template <class Sums>
__device__ Sums sum_of_warp(Sums sums) {
  for (int distance = warp / 2; distance > 0; distance /= 2) sums.add(shuffled(sums, distance));
  return sums;
}

template <class T, class Pass>
__global__ void __launch_bounds__(threads)
    pass_over_rows(Elements<T> e, Pass pass, typename Pass::Sums* rows, int64_t chunks, int team) {
  using Sums = typename Pass::Sums;
  const int64_t first_row = e.first / e.columns;
  const int64_t items = ((e.first + e.count - 1) / e.columns - first_row + 1) * chunks;
  const int64_t teams = int64_t{gridDim.x} * (threads / team);
  const int member = static_cast<int>(threadIdx.x) % team;
  int64_t item = int64_t{blockIdx.x} * (threads / team) + threadIdx.x / team;
  for (; item < items; item += teams) {
    const int64_t row = first_row + item / chunks;
    const int64_t from = row * e.columns + item % chunks * chunk;
    const int64_t begin = max(from - e.first, int64_t{0});
    const int64_t end = min(min(from + chunk, (row + 1) * e.columns) - e.first, e.count);
    Sums sums{};
    for (int64_t i = begin + member; i < end; i += team) {
      pass.add(sums, e.got[i], e.oracle[i], e.torch[i], row);
    }
    sums = sum_of_warp(sums);
    if (member % warp == 0 && begin < end) add_to(rows[row], sums);
  }
}

}  // namespace

template <class T, class Pass>
void pass_over_device_rows(const Elements<T>& e, const Pass& pass, typename Pass::Sums* rows,
                           cudaStream_t stream) {
  if (e.count == 0) return;
  constexpr int64_t most_blocks = 132 * 16;
  const int team = e.columns <= 1024 ? warp : threads;
  const int64_t chunks = (e.columns + chunk - 1) / chunk;
  const int64_t items = ((e.first + e.count - 1) / e.columns - e.first / e.columns + 1) * chunks;
  const int64_t blocks = std::min(most_blocks, (items * team + threads - 1) / threads);
  pass_over_rows<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(e, pass, rows, chunks,
                                                                        team);
  check(cudaGetLastError(), "compare an output");
}

#define KB_INSTANTIATE(T)                                                               \
  template void pass_over_device_rows(const Elements<T>&, const MeasureRows&, RowSums*, \
                                      cudaStream_t);                                    \
  template void pass_over_device_rows(const Elements<T>&, const JudgeRows&, RowExcess*, \
                                      cudaStream_t);
KB_INSTANTIATE(float)
KB_INSTANTIATE(__half)
KB_INSTANTIATE(__nv_bfloat16)

}  // namespace kb
