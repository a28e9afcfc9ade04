#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Conv2d conv{net["conv"], s.in_channels, s.out_channels, s.kernel_size};
};

static auto tensors(const Sizes& s) {
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}), weights<Network>(s),
      output<real>("y", {s.batch_size, s.out_channels, s.pooled(s.height), s.pooled(s.width)})};
}

static Tensor reference(const Sizes& s, Tensor x, const Network& n) {
  x = at::hardswish(n.conv(x) - s.subtract_value);
  return at::mish(at::max_pool2d(x, s.pool_kernel_size));
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-Conv", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 8,
                                             .out_channels = 24,
                                             .height = 18,
                                             .width = 18,
                                             .kernel_size = 3},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 19,
                                           .height = 17,
                                           .width = 19,
                                           .kernel_size = 4,
                                           .subtract_value = -0.3,
                                           .pool_kernel_size = 3}});
}
