#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const auto [kernel_h, kernel_w] = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}),
      weight<real>("conv_transpose2d.weight",
                   {s.in_channels, s.out_channels / s.groups, kernel_h, kernel_w}),
      output<real>("y", {s.batch_size, s.out_channels, s.out_height(), s.out_width()})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor weight) {
  return at::conv_transpose2d(x, weight, {}, s.stride, s.padding, 0, s.groups, s.dilation);
}

Task kb::task() {
  return define<decltype(launch)>("ConvTranspose", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 8,
                                             .out_channels = 16,
                                             .kernel_size = {3, 5},
                                             .height = 12,
                                             .width = 16,
                                             .stride = {2, 3},
                                             .padding = {1, 2},
                                             .dilation = {2, 1},
                                             .groups = 4},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 6,
                                           .out_channels = 51,
                                           .kernel_size = {4, 3},
                                           .height = 29,
                                           .width = 23,
                                           .stride = {3, 2},
                                           .padding = {2, 0},
                                           .dilation = {1, 3},
                                           .groups = 3}});
}
