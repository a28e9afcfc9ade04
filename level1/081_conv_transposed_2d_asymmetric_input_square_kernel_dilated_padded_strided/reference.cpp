#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const int64_t k = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height_in, s.width_in}),
      weight<real>("conv_transpose2d.weight", {s.in_channels, s.out_channels, k, k}),
      output<real>("y", {s.batch_size, s.out_channels, s.out_height(), s.out_width()})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor weight) {
  return at::conv_transpose2d(x, weight, {}, s.stride, s.padding, 0, 1, s.dilation);
}

Task kb::task() {
  return define<decltype(launch)>("ConvTranspose", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 4,
                                             .out_channels = 8,
                                             .kernel_size = 3,
                                             .height_in = 8,
                                             .width_in = 12,
                                             .stride = 5,
                                             .padding = 1,
                                             .dilation = 2},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 67,
                                           .kernel_size = 4,
                                           .height_in = 19,
                                           .width_in = 17,
                                           .stride = 3,
                                           .padding = 2,
                                           .dilation = 1}});
}
