#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const auto [kernel_d, kernel_h, kernel_w] = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.depth_in, s.height_in, s.width_in}),
      weight<real>("conv_transpose3d.weight",
                   {s.in_channels, s.out_channels, kernel_d, kernel_h, kernel_w}),
      output<real>("y", {s.batch_size, s.out_channels, s.depth_in + kernel_d - 1,
                         s.height_in + kernel_h - 1, s.width_in + kernel_w - 1})};
}

static Tensor reference(const Sizes&, Tensor x, Tensor weight) {
  return at::conv_transpose3d(x, weight);
}

Task kb::task() {
  return define<decltype(launch)>("ConvTranspose", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 4,
                                             .out_channels = 2,
                                             .kernel_size = {3, 5, 7},
                                             .depth_in = 4,
                                             .height_in = 8,
                                             .width_in = 12},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 3,
                                           .out_channels = 19,
                                           .kernel_size = {2, 3, 4},
                                           .depth_in = 5,
                                           .height_in = 7,
                                           .width_in = 13}});
}
