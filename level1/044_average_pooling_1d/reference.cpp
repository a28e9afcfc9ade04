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
  return define<decltype(launch)>("Pooling", tensors, reference,
                                  {.smoke = {2, 4, 128}, .odd = {3, 5, 607, 5, 2, 2}});
}
