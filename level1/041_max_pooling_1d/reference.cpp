#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static int64_t output_length(const Sizes& s) {
  return (s.sequence_length + 2 * s.padding - s.dilation * (s.kernel_size - 1) - 1) / s.stride + 1;
}

static auto tensors(const Sizes& s) {
  // Mostly negative: a window at the edge shows padding that counts as 0.
  return std::tuple{
      input<real>("x", {s.batch_size, s.features, s.sequence_length}).with(normal(-2, 1)),
      output<real>("y", {s.batch_size, s.features, output_length(s)})};
}

static Tensor reference(const Sizes& s, Tensor x) {
  return at::max_pool1d(x, s.kernel_size, s.stride, s.padding, s.dilation);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Pooling", tensors, reference,
      {.smoke = {.batch_size = 2, .features = 6, .sequence_length = 128},
       .odd = {.batch_size = 3,
               .features = 5,
               .sequence_length = 607,
               .kernel_size = 5,
               .stride = 2,
               .padding = 2,
               .dilation = 4}});
}
