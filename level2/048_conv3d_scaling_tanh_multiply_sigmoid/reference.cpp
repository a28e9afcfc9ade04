#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Shape channel = {s.out_channels, 1, 1, 1};
  Parameter scaling_factor = net.weight("scaling_factor", channel, normal(), normal());
  Parameter bias = net.weight("bias", channel, normal(0, 2), normal());
  Conv3d conv{net["conv"], s.in_channels, s.out_channels, s.kernel_size};
};

// Inputs of one scale keep tanh away from its limits.
static auto tensors(const Sizes& s) {
  const int64_t less = s.kernel_size - 1;
  const Shape x = {s.batch_size, s.in_channels, s.depth, s.height, s.width};
  const Shape y = {s.batch_size, s.out_channels, s.depth - less, s.height - less, s.width - less};
  return std::tuple{input<real>("x", x).with(normal()), weights<Network>(s), output<real>("y", y)};
}

static Tensor reference(const Sizes&, Tensor x, const Network& n) {
  x = at::tanh(n.conv(x) * n.scaling_factor);
  return at::sigmoid(x * n.bias);
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-Conv", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 3,
                                             .out_channels = 16,
                                             .depth = 6,
                                             .height = 12,
                                             .width = 12},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 19,
                                           .depth = 7,
                                           .height = 9,
                                           .width = 13,
                                           .kernel_size = 2}});
}
