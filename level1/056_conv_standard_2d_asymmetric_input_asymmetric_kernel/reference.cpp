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
                                             .in_channels = 8,
                                             .out_channels = 16,
                                             .kernel_size = {5, 7},
                                             .height = 20,
                                             .width = 14},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 67,
                                           .kernel_size = {4, 3},
                                           .height = 23,
                                           .width = 29}});
}
