#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static int64_t output_length(const Sizes& s, int64_t length) {
  return (length + 2 * s.padding - s.kernel_size) / s.stride + 1;
}

static auto tensors(const Sizes& s) {
  const int64_t depth = output_length(s, s.depth), height = output_length(s, s.height);
  return std::tuple{
      input<real>("x", {s.batch_size, s.channels, s.depth, s.height, s.width}),
      output<real>("y", {s.batch_size, s.channels, depth, height, output_length(s, s.width)})};
}

static Tensor reference(const Sizes& s, Tensor x) {
  return at::avg_pool3d(x, s.kernel_size, s.stride, s.padding);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Pooling", tensors, reference,
      {.smoke = {.batch_size = 2, .channels = 4, .depth = 10, .height = 10, .width = 20},
       .odd = {.batch_size = 3,
               .channels = 3,
               .depth = 11,
               .height = 17,
               .width = 71,
               .kernel_size = 4,
               .stride = 1,
               .padding = 2}});
}
