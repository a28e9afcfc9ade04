#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}),
      weight<real>("conv2d.weight", {s.in_channels, 1, s.kernel_size_h, s.kernel_size_w}),
      output<real>("y", {s.batch_size, s.in_channels, s.out_height(), s.out_width()})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor weight) {
  return at::conv2d(x, weight, {}, {s.stride_h, s.stride_w}, {s.padding_h, s.padding_w},
                    {s.dilation_h, s.dilation_w}, s.in_channels);
}

Task kb::task() {
  return define<decltype(launch)>("Convolution", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 8,
                                             .out_channels = 8,
                                             .kernel_size_h = 5,
                                             .kernel_size_w = 7,
                                             .width = 32,
                                             .height = 21},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 7,
                                           .kernel_size_h = 4,
                                           .kernel_size_w = 3,
                                           .width = 37,
                                           .height = 29,
                                           .stride_h = 2,
                                           .stride_w = 3,
                                           .padding_h = 3,
                                           .padding_w = 1,
                                           .dilation_h = 4,
                                           .dilation_w = 5}});
}
