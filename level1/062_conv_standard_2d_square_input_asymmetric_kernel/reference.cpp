#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const auto [kernel_h, kernel_w] = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}),
      weight<real>("conv2d.weight", {s.out_channels, s.in_channels, kernel_h, kernel_w}),
      output<real>(
          "y", {s.batch_size, s.out_channels, s.height - kernel_h + 1, s.width - kernel_w + 1})};
}

static Tensor reference(const Sizes&, Tensor x, Tensor weight) { return at::conv2d(x, weight); }

Task kb::task() {
  return define<decltype(launch)>("Convolution", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 4,
                                             .out_channels = 8,
                                             .kernel_size = {5, 9},
                                             .width = 20,
                                             .height = 20},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 7,
                                           .out_channels = 71,
                                           .kernel_size = {2, 5},
                                           .width = 31,
                                           .height = 19}});
}
