#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static int64_t output_length(const Sizes& s, int64_t length) {
  return (length + 2 * s.padding - s.dilation * (s.kernel_size - 1) - 1) / s.stride + 1;
}

static auto tensors(const Sizes& s) {
  const int64_t depth = output_length(s, s.dim1), height = output_length(s, s.dim2);
  // Mostly negative: a window at the edge shows padding that counts as 0.
  return std::tuple{
      input<real>("x", {s.batch_size, s.channels, s.dim1, s.dim2, s.dim3}).with(normal(-2, 1)),
      output<real>("y", {s.batch_size, s.channels, depth, height, output_length(s, s.dim3)})};
}

static Tensor reference(const Sizes& s, Tensor x) {
  return at::max_pool3d(x, s.kernel_size, s.stride, s.padding, s.dilation);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Pooling", tensors, reference,
      {.smoke = {.batch_size = 2, .channels = 4, .dim1 = 16, .dim2 = 16, .dim3 = 16},
       .odd = {.batch_size = 3,
               .channels = 3,
               .dim1 = 11,
               .dim2 = 17,
               .dim3 = 41,
               .kernel_size = 4,
               .stride = 1,
               .padding = 2,
               .dilation = 2}});
}
