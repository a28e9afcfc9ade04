#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const int64_t k = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}),
      weight<real>("depthwise.weight", {s.in_channels, 1, k, k}),
      weight<real>("pointwise.weight", {s.out_channels, s.in_channels, 1, 1}),
      output<real>("y", {s.batch_size, s.out_channels, s.out_height(), s.out_width()})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor depthwise, Tensor pointwise) {
  x = at::conv2d(x, depthwise, {}, s.stride, s.padding, s.dilation, s.in_channels);
  return at::conv2d(x, pointwise);
}

Task kb::task() {
  return define<decltype(launch)>("Convolution", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 8,
                                             .out_channels = 16,
                                             .kernel_size = 3,
                                             .width = 24,
                                             .height = 25,
                                             .stride = 1,
                                             .padding = 1,
                                             .dilation = 1},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 21,
                                           .out_channels = 131,
                                           .kernel_size = 4,
                                           .width = 37,
                                           .height = 29,
                                           .stride = 2,
                                           .padding = 3,
                                           .dilation = 4}});
}
