#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}),
      weight<real>("conv2d.weight", {s.in_channels, 1, s.kernel_size, 1}),
      output<real>("y", {s.batch_size, s.in_channels, s.out_height(), s.out_width()})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor weight) {
  return at::conv2d(x, weight, {}, s.stride, s.padding, s.dilation, s.in_channels);
}

Task kb::task() {
  return define<decltype(launch)>("Convolution", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 8,
                                             .kernel_size = 6,
                                             .width = 24,
                                             .height = 30,
                                             .stride = 1,
                                             .padding = 0,
                                             .dilation = 1},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .kernel_size = 4,
                                           .width = 37,
                                           .height = 29,
                                           .stride = 2,
                                           .padding = 3,
                                           .dilation = 4}});
}
