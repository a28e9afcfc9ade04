#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const int64_t k = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}),
      weight<real>("conv2d.weight", {s.out_channels, s.in_channels, k, k}),
      output<real>("y", {s.batch_size, s.out_channels, s.height - k + 1, s.width - k + 1})};
}

static Tensor reference(const Sizes&, Tensor x, Tensor weight) { return at::conv2d(x, weight); }

Task kb::task() {
  return define<decltype(launch)>(
      "Convolution", tensors, reference,
      {.smoke = {.batch_size = 2, .height = 16, .width = 32, .in_channels = 8, .out_channels = 16},
       .odd = {.batch_size = 3,
               .height = 23,
               .width = 29,
               .in_channels = 5,
               .out_channels = 67,
               .kernel_size = 4}});
}
