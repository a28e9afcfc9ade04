#include "task.h"

#include <kb/axis.cuh>
#include <kb/softmax.cuh>

// One warp per row, 8 rows per block.
__global__ void row_losses(const kb::real* predictions, const int64_t* targets, float* losses,
                           int64_t rows, int64_t classes) {
  const int64_t row = int64_t{blockIdx.x} * 8 + threadIdx.y;
  if (row >= rows) return;
  predictions += row * classes;
  const kb::ExpSum e =
      kb::reduce(kb::Warp{}, classes, kb::OnlineSoftmax{}, kb::Same{}, predictions);
  if (threadIdx.x == 0)
    losses[row] = logf(e.sum) + (e.max - kb::element(predictions, targets[row]));
}

void task::launch(const Sizes& s, const real* predictions, const int64_t* targets, real* loss,
                  cudaStream_t stream) {
  const int64_t rows = s.batch_size;
  void* memory;
  cudaMallocAsync(&memory, rows * sizeof(float), stream);
  const auto losses = static_cast<float*>(memory);
  row_losses<<<(rows + 7) / 8, dim3(32, 8), 0, stream>>>(predictions, targets, losses, rows,
                                                         s.num_classes);
  kb::launch_sum(stream, rows, kb::Same{}, rows, loss, losses);
  cudaFreeAsync(memory, stream);
}
