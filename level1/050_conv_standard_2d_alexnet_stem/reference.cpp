#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const int64_t k = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}),
      weight<real>("conv1.weight", {s.out_channels, s.in_channels, k, k}),
      weight<real>("conv1.bias", {s.out_channels}).upstream(fan_in_uniform(s.in_channels * k * k)),
      output<real>("y", {s.batch_size, s.out_channels, s.out_height(), s.out_width()})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor weight, Tensor bias) {
  return at::conv2d(x, weight, bias, s.stride, s.padding);
}

Task kb::task() {
  return define<decltype(launch)>("Convolution", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 3,
                                             .out_channels = 12,
                                             .kernel_size = 11,
                                             .stride = 4,
                                             .padding = 2,
                                             .height = 35,
                                             .width = 35},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 2,
                                           .out_channels = 53,
                                           .kernel_size = 5,
                                           .stride = 3,
                                           .padding = 4,
                                           .height = 37,
                                           .width = 29}});
}
