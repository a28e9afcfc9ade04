#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const int64_t k = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.depth, s.height, s.width}),
      weight<real>("conv_transpose3d.weight", {s.in_channels, s.out_channels, k, k, k}),
      output<real>("y",
                   {s.batch_size, s.out_channels, s.out_depth(), s.out_height(), s.out_width()})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor weight) {
  return at::conv_transpose3d(x, weight, {}, s.stride, s.padding, 0, 1, s.dilation);
}

Task kb::task() {
  return define<decltype(launch)>("ConvTranspose", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 4,
                                             .out_channels = 8,
                                             .kernel_size = 3,
                                             .depth = 4,
                                             .height = 6,
                                             .width = 6,
                                             .stride = 2,
                                             .padding = 1,
                                             .dilation = 2},
                                   .odd = {.batch_size = 1,
                                           .in_channels = 3,
                                           .out_channels = 67,
                                           .kernel_size = 4,
                                           .depth = 7,
                                           .height = 5,
                                           .width = 11,
                                           .stride = 3,
                                           .padding = 2,
                                           .dilation = 1}});
}
