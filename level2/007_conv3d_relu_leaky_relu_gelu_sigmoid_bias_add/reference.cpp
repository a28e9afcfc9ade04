#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Parameter bias = net.weight("bias", {s.out_channels, 1, 1, 1}, normal(), normal());
  Conv3d conv{net["conv"], s.in_channels, s.out_channels, s.kernel_size};
};

// Inputs of one scale keep GELU and sigmoid away from their limits.
static auto tensors(const Sizes& s) {
  const int64_t less = s.kernel_size - 1;
  const Shape x = {s.batch_size, s.in_channels, s.depth, s.height, s.width};
  const Shape y = {s.batch_size, s.out_channels, s.depth - less, s.height - less, s.width - less};
  return std::tuple{input<real>("x", x).with(normal()), weights<Network>(s), output<real>("y", y)};
}

static Tensor reference(const Sizes&, Tensor x, const Network& n) {
  x = at::relu(n.conv(x));
  x = at::leaky_relu(x, 0.01);
  x = at::sigmoid(at::gelu(x));
  return x + n.bias;
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-Conv", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 4,
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
