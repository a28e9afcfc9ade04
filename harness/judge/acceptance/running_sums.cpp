#include "judge/acceptance/running_sums.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "judge/acceptance/running_sum.h"

#ifdef KB_CUDA
#include <c10/cuda/CUDAStream.h>

#include "judge/acceptance/running_sums_cuda.h"
#endif

namespace kb {

at::Tensor losses_of_running_sums(const at::Tensor& terms) {
  const at::Tensor all = terms.contiguous();
  const int64_t rows = all.size(0), columns = all.size(1);
  at::Tensor losses = at::zeros({rows}, all.options());
  const double* const first = all.const_data_ptr<double>();
  double* const of_rows = losses.mutable_data_ptr<double>();
#ifdef KB_CUDA
  if (all.is_cuda()) {
    add_losses_of_device_rows(first, rows, columns, of_rows,
                              c10::cuda::getCurrentCUDAStream().stream());
    return losses;
  }
#endif
  at::parallel_for(0, rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t at = 0; at < columns; at += longest_running_sum) {
        of_rows[row] += loss_of_running_sum(first + row * columns + at,
                                            std::min(columns - at, longest_running_sum));
      }
    }
  });
  return losses;
}

}  // namespace kb
