#include "task.h"

#include <kb/scan.cuh>

void task::launch(const Sizes& s, const real* x, real* y, cudaStream_t stream) {
  kb::launch_scan(stream, s.batch_size, s.input_shape[0], kb::Product{}, y, x);
}
