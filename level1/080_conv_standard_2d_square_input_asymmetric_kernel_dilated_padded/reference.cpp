#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}),
      weight<real>("conv2d.weight",
                   {s.out_channels, s.in_channels, s.kernel_size[0], s.kernel_size[1]}),
      output<real>("y", {s.batch_size, s.out_channels, s.out_height(), s.out_width()})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor weight) {
  return at::conv2d(x, weight, {}, s.stride, s.padding, s.dilation);
}

Task kb::task() {
  return define<decltype(launch)>("Convolution", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 4,
                                             .out_channels = 8,
                                             .kernel_size = {5, 9},
                                             .width = 28,
                                             .height = 28,
                                             .stride = 1,
                                             .padding = {2, 4},
                                             .dilation = {2, 3}},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 67,
                                           .kernel_size = {3, 2},
                                           .width = 31,
                                           .height = 37,
                                           .stride = 2,
                                           .padding = {3, 1},
                                           .dilation = {1, 5}}});
}
