// One thread for each part of a row, since it is the order of one thread that is asked for.
#include <cuda_runtime.h>

#include <algorithm>

#include "base/cuda_error.h"
#include "judge/acceptance/running_sum.h"
#include "judge/acceptance/running_sums_cuda.h"

namespace kb {
namespace {

constexpr int threads = 64;  // few, so that rows are spread over the device

__global__ void __launch_bounds__(threads)
    add_losses(const double* terms, int64_t columns, int64_t parts, int64_t items,
               double* losses) {
  const int64_t stride = int64_t{gridDim.x} * threads;
  for (int64_t item = int64_t{blockIdx.x} * threads + threadIdx.x; item < items; item += stride) {
    const int64_t row = item / parts, first = item % parts * longest_running_sum;
    const int64_t count = min(columns - first, longest_running_sum);
    atomicAdd(losses + row, loss_of_running_sum(terms + row * columns + first, count));
  }
}

}  // namespace

void add_losses_of_device_rows(const double* terms, int64_t rows, int64_t columns, double* losses,
                               cudaStream_t stream) {
  const int64_t parts = (columns + longest_running_sum - 1) / longest_running_sum;
  const int64_t items = rows * parts;
  if (items == 0) return;
  constexpr int64_t most_blocks = int64_t{1} << 20;
  const int64_t blocks = std::min(most_blocks, (items + threads - 1) / threads);
  add_losses<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(terms, columns, parts, items,
                                                                    losses);
  check(cudaGetLastError(), "form running sums");
}

}  // namespace kb
