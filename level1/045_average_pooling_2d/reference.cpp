#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const int64_t k = s.kernel_size;
  return std::tuple{input<real>("x", {s.batch_size, s.channels, s.height, s.width}),
                    output<real>("y", {s.batch_size, s.channels, s.height / k, s.width / k})};
}

static Tensor reference(const Sizes& s, Tensor x) { return at::avg_pool2d(x, s.kernel_size); }

Task kb::task() {
  return define<decltype(launch)>(
      "Pooling", tensors, reference,
      {.smoke = {.batch_size = 2, .channels = 4, .height = 64, .width = 64},
       .odd = {.batch_size = 3, .channels = 3, .height = 37, .width = 1031, .kernel_size = 3}});
}
