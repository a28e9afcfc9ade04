#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.length}),
      weight<real>("conv1d_transpose.weight", {s.in_channels, s.out_channels, s.kernel_size}),
      output<real>("y", {s.batch_size, s.out_channels, s.length + s.kernel_size - 1})};
}

static Tensor reference(const Sizes&, Tensor x, Tensor weight) {
  return at::conv_transpose1d(x, weight);
}

Task kb::task() {
  return define<decltype(launch)>(
      "ConvTranspose", tensors, reference,
      {.smoke =
           {.batch_size = 2, .in_channels = 8, .out_channels = 8, .kernel_size = 3, .length = 256},
       .odd = {.batch_size = 3,
               .in_channels = 5,
               .out_channels = 67,
               .kernel_size = 4,
               .length = 509}});
}
