#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Conv3d conv{net["conv"], s.in_channels, s.out_channels, s.kernel_size};
};

// Inputs of one scale keep many channels relevant to the softmax.
static auto tensors(const Sizes& s) {
  const Shape x = {s.batch_size, s.in_channels, s.depth, s.height, s.width};
  const Shape y = {s.batch_size, s.out_channels, s.pooled(s.depth), s.pooled(s.height),
                   s.pooled(s.width)};
  return std::tuple{input<real>("x", x).with(normal()), weights<Network>(s), output<real>("y", y)};
}

static Tensor reference(const Sizes& s, Tensor x, const Network& n) {
  x = at::softmax(n.conv(x), 1);
  x = at::max_pool3d(x, s.pool_kernel_size);
  return at::max_pool3d(x, s.pool_kernel_size);
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-Conv", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 3,
                                             .out_channels = 16,
                                             .depth = 10,
                                             .height = 14,
                                             .width = 14},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 7,
                                           .depth = 21,
                                           .height = 15,
                                           .width = 23,
                                           .kernel_size = 2,
                                           .pool_kernel_size = 3}});
}
