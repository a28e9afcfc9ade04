#include "task.h"

#include <kb/axis.cuh>

// x is reduced over its middle axis: a block takes neighbouring columns of one matrix.
void task::launch(const Sizes& s, const real* x, int64_t* index, cudaStream_t stream) {
  kb::launch_reduce_axis(stream, s.batch_size, s.dim1, s.dim2, kb::ArgMin{}, kb::IndexOf{}, index,
                         x);
}
