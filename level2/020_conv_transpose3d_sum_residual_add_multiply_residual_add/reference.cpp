#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Parameter bias = net.weight("bias", {s.out_channels, 1, 1, 1}, normal(), normal());
  ConvTransposeOptions options{s.stride, s.padding, s.output_padding};
  ConvTranspose3d conv{net["conv_transpose"], s.in_channels, s.out_channels, s.kernel_size,
                       options};
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_channels, s.depth, s.height, s.width}),
                    weights<Network>(s),
                    output<real>("y", {s.batch_size, s.out_channels, s.length(s.depth),
                                       s.length(s.height), s.length(s.width)})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& net) {
  const Tensor z = net.conv(x), original = z.clone();
  return (z + net.bias + original) * original + original;
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-ConvTranspose", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 4,
                                             .out_channels = 8,
                                             .depth = 4,
                                             .height = 6,
                                             .width = 6,
                                             .kernel_size = 3,
                                             .stride = 2,
                                             .padding = 1,
                                             .output_padding = 1},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 7,
                                           .depth = 3,
                                           .height = 5,
                                           .width = 7,
                                           .kernel_size = 4,
                                           .stride = 3,
                                           .padding = 2,
                                           .output_padding = 2}});
}
