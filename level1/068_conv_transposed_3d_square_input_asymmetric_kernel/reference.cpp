#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.depth, s.width, s.height}),
      weight<real>("conv_transpose3d.weight", {s.in_channels, s.out_channels, s.kernel_depth,
                                               s.kernel_width, s.kernel_height}),
      output<real>("y", {s.batch_size, s.out_channels, s.depth + s.kernel_depth - 1,
                         s.width + s.kernel_width - 1, s.height + s.kernel_height - 1})};
}

static Tensor reference(const Sizes&, Tensor x, Tensor weight) {
  return at::conv_transpose3d(x, weight);
}

Task kb::task() {
  return define<decltype(launch)>("ConvTranspose", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 4,
                                             .out_channels = 8,
                                             .kernel_depth = 3,
                                             .kernel_width = 5,
                                             .kernel_height = 5,
                                             .depth = 6,
                                             .width = 6,
                                             .height = 6},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 3,
                                           .out_channels = 67,
                                           .kernel_depth = 2,
                                           .kernel_width = 3,
                                           .kernel_height = 4,
                                           .depth = 5,
                                           .width = 9,
                                           .height = 7}});
}
