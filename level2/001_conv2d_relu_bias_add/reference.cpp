#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const int64_t k = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}),
      weight<real>("bias", {s.out_channels, 1, 1}).with(normal()).upstream(normal()),
      weight<real>("conv.weight", {s.out_channels, s.in_channels, k, k}),
      weight<real>("conv.bias", {s.out_channels}).upstream(fan_in_uniform(s.in_channels * k * k)),
      output<real>("y", {s.batch_size, s.out_channels, s.height - k + 1, s.width - k + 1})};
}

static Tensor reference(const Sizes&, Tensor x, Tensor bias, Tensor conv_weight, Tensor conv_bias) {
  x = at::conv2d(x, conv_weight, conv_bias);
  x = at::relu(x);
  return x + bias;
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-Conv", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 8,
                                             .out_channels = 16,
                                             .height = 12,
                                             .width = 12,
                                             .kernel_size = 3},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 19,
                                           .height = 11,
                                           .width = 17,
                                           .kernel_size = 2}});
}
