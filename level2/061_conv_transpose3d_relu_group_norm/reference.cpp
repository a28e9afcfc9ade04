#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  ConvTranspose3d conv{
      net["conv_transpose"], s.in_channels, s.out_channels, s.kernel_size, {.bias = false}};
  GroupNorm norm{net["group_norm"], s.groups, s.out_channels};
};

static auto tensors(const Sizes& s) {
  const int64_t more = s.kernel_size - 1;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.D, s.H, s.W}), weights<Network>(s),
      output<real>("y", {s.batch_size, s.out_channels, s.D + more, s.H + more, s.W + more})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& net) {
  return net.norm(at::relu(net.conv(x)));
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-ConvTranspose", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 4,
                                             .out_channels = 16,
                                             .D = 6,
                                             .H = 6,
                                             .W = 6,
                                             .kernel_size = 3,
                                             .groups = 4},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 21,
                                           .D = 3,
                                           .H = 5,
                                           .W = 7,
                                           .kernel_size = 4,
                                           .groups = 7}});
}
