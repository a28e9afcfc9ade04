#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const auto [kernel_d, kernel_h, kernel_w] = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.depth, s.height, s.width}),
      weight<real>("conv3d.weight", {s.out_channels, s.in_channels, kernel_d, kernel_h, kernel_w}),
      output<real>("y", {s.batch_size, s.out_channels, s.depth - kernel_d + 1,
                         s.height - kernel_h + 1, s.width - kernel_w + 1})};
}

static Tensor reference(const Sizes&, Tensor x, Tensor weight) { return at::conv3d(x, weight); }

Task kb::task() {
  return define<decltype(launch)>("Convolution", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 3,
                                             .out_channels = 4,
                                             .kernel_size = {3, 5, 7},
                                             .depth = 6,
                                             .height = 14,
                                             .width = 14},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 2,
                                           .out_channels = 67,
                                           .kernel_size = {2, 6, 3},
                                           .depth = 5,
                                           .height = 13,
                                           .width = 11}});
}
