#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Parameter multiplier = net.weight("multiplier", {s.out_channels, 1, 1}, normal(), normal());
  Conv2d conv{net["conv"], s.in_channels, s.out_channels, s.kernel_size};
};

static auto tensors(const Sizes& s) {
  const int64_t k = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}), weights<Network>(s),
      output<real>("y", {s.batch_size, s.out_channels, s.height - k + 1, s.width - k + 1})};
}

static Tensor reference(const Sizes&, Tensor x, const Network& n) {
  return at::gelu(at::leaky_relu(n.conv(x) * n.multiplier, 0.01));
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
                                           .kernel_size = 2}});
}
