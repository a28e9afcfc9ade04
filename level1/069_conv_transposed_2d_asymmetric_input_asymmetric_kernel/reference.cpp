#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const auto [kernel_h, kernel_w] = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height_in, s.width_in}),
      weight<real>("conv_transpose2d.weight", {s.in_channels, s.out_channels, kernel_h, kernel_w}),
      output<real>("y", {s.batch_size, s.out_channels, s.height_in + kernel_h - 1,
                         s.width_in + kernel_w - 1})};
}

static Tensor reference(const Sizes&, Tensor x, Tensor weight) {
  return at::conv_transpose2d(x, weight);
}

Task kb::task() {
  return define<decltype(launch)>("ConvTranspose", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 4,
                                             .out_channels = 8,
                                             .kernel_size = {3, 5},
                                             .height_in = 12,
                                             .width_in = 24},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 7,
                                           .out_channels = 71,
                                           .kernel_size = {2, 3},
                                           .height_in = 17,
                                           .width_in = 13}});
}
