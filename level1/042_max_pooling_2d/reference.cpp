#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static int64_t output_length(const Sizes& s, int64_t length) {
  return (length + 2 * s.padding - s.dilation * (s.kernel_size - 1) - 1) / s.stride + 1;
}

static auto tensors(const Sizes& s) {
  const int64_t height = output_length(s, s.height), width = output_length(s, s.width);
  // Mostly negative: a window at the edge shows padding that counts as 0.
  return std::tuple{
      input<real>("x", {s.batch_size, s.channels, s.height, s.width}).with(normal(-2, 1)),
      output<real>("y", {s.batch_size, s.channels, height, width})};
}

static Tensor reference(const Sizes& s, Tensor x) {
  return at::max_pool2d(x, s.kernel_size, s.stride, s.padding, s.dilation);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Pooling", tensors, reference,
      {.smoke = {.batch_size = 2, .channels = 4, .height = 24, .width = 24},
       .odd = {.batch_size = 3,
               .channels = 3,
               .height = 41,
               .width = 83,
               .kernel_size = 5,
               .stride = 3,
               .padding = 2,
               .dilation = 4}});
}
