#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const auto [kernel_d, kernel_h, kernel_w] = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.depth, s.height, s.width}),
      weight<real>("conv_transpose3d.weight",
                   {s.in_channels, s.out_channels / s.groups, kernel_d, kernel_h, kernel_w}),
      output<real>("y",
                   {s.batch_size, s.out_channels, s.out_depth(), s.out_height(), s.out_width()})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor weight) {
  return at::conv_transpose3d(x, weight, {}, s.stride, s.padding, s.output_padding, s.groups);
}

Task kb::task() {
  return define<decltype(launch)>("ConvTranspose", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 8,
                                             .out_channels = 8,
                                             .kernel_size = {3, 5, 7},
                                             .depth = 4,
                                             .height = 6,
                                             .width = 8,
                                             .stride = {2, 2, 2},
                                             .padding = {1, 2, 3},
                                             .output_padding = {1, 1, 1},
                                             .groups = 4},
                                   .odd = {.batch_size = 1,
                                           .in_channels = 6,
                                           .out_channels = 33,
                                           .kernel_size = {2, 3, 4},
                                           .depth = 7,
                                           .height = 11,
                                           .width = 17,
                                           .stride = {3, 3, 1},
                                           .padding = {0, 1, 2},
                                           .output_padding = {2, 2, 0},
                                           .groups = 3}});
}
