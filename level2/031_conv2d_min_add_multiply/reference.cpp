#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Parameter bias = net.weight("bias", {s.out_channels, 1, 1}, normal(), normal());
  Conv2d conv{net["conv"], s.in_channels, s.out_channels, s.kernel_size};
};

static auto tensors(const Sizes& s) {
  const int64_t k = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}), weights<Network>(s),
      output<real>("y", {s.batch_size, s.out_channels, s.height - k + 1, s.width - k + 1})};
}

static Tensor reference(const Sizes& s, Tensor x, const Network& n) {
  x = n.conv(x);
  x = at::min(x, at::scalar_tensor(s.constant_value, x.options()));
  return (x + n.bias) * s.scaling_factor;
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
                                           .height = 13,
                                           .width = 17,
                                           .kernel_size = 2,
                                           .constant_value = -0.8,
                                           .scaling_factor = -1.5}});
}
