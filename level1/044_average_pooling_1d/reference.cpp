#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static int64_t output_length(const Sizes& s) {
  return (s.input_length + 2 * s.padding - s.kernel_size) / s.stride + 1;
}

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_channels, s.input_length}),
                    output<real>("y", {s.batch_size, s.in_channels, output_length(s)})};
}

static Tensor reference(const Sizes& s, Tensor x) {
  return at::avg_pool1d(x, s.kernel_size, s.stride, s.padding);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Pooling", tensors, reference,
      {.smoke = {.batch_size = 2, .in_channels = 4, .input_length = 128},
       .odd = {.batch_size = 3,
               .in_channels = 5,
               .input_length = 607,
               .kernel_size = 5,
               .stride = 2,
               .padding = 2}});
}
