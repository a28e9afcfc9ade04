#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const auto [kernel_h, kernel_w] = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}),
      weight<real>("conv_transpose2d.weight", {s.in_channels, s.out_channels, kernel_h, kernel_w}),
      output<real>("y", {s.batch_size, s.out_channels, s.out_height(), s.out_width()})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor weight) {
  return at::conv_transpose2d(x, weight, {}, s.stride, s.padding);
}

Task kb::task() {
  return define<decltype(launch)>("ConvTranspose", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 4,
                                             .out_channels = 4,
                                             .kernel_size = {3, 7},
                                             .height = 12,
                                             .width = 24,
                                             .stride = {1, 1},
                                             .padding = {1, 3}},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 37,
                                           .kernel_size = {4, 3},
                                           .height = 23,
                                           .width = 29,
                                           .stride = {2, 3},
                                           .padding = {2, 2}}});
}
