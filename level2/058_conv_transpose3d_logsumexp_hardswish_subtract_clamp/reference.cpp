#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  // Near the middle of what it is subtracted from, so that both bounds count.
  Parameter bias = net.weight("bias", {1, 1, 1, 1}, uniform(1.3, 1.6), normal());
  ConvTranspose3d conv{net["conv_transpose"], s.in_channels, s.out_channels, s.kernel_size,
                       ConvTransposeOptions{.stride = s.stride, .padding = s.padding}};
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_channels, s.depth, s.height, s.width})
                        .with(scaled(spiked(), 6, 9)),
                    weights<Network>(s),
                    output<real>("y", {s.batch_size, 1, s.length(s.depth), s.length(s.height),
                                       s.length(s.width)})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& net) {
  const Tensor u = at::logsumexp(net.conv(x), 1, /*keepdim=*/true);
  return at::clamp(u * at::sigmoid(u + 3) / 6 - net.bias, -1, 1);
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-ConvTranspose", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 3,
                                             .out_channels = 8,
                                             .depth = 4,
                                             .height = 6,
                                             .width = 6,
                                             .kernel_size = 3,
                                             .stride = 2,
                                             .padding = 1},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 7,
                                           .depth = 3,
                                           .height = 5,
                                           .width = 7,
                                           .kernel_size = 4,
                                           .stride = 3,
                                           .padding = 2}});
}
