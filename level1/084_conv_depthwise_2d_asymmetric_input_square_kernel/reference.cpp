#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height_in, s.width_in}),
      weight<real>("conv2d.weight", {s.out_channels, 1, s.kernel_size, s.kernel_size}),
      output<real>("y", {s.batch_size, s.out_channels, s.out_height(), s.out_width()})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor weight) {
  return at::conv2d(x, weight, {}, s.stride, s.padding, 1, s.in_channels);
}

Task kb::task() {
  return define<decltype(launch)>("Convolution", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 8,
                                             .out_channels = 8,
                                             .kernel_size = 3,
                                             .width_in = 32,
                                             .height_in = 19,
                                             .stride = 1,
                                             .padding = 0},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 10,
                                           .kernel_size = 4,
                                           .width_in = 37,
                                           .height_in = 29,
                                           .stride = 2,
                                           .padding = 3}});
}
