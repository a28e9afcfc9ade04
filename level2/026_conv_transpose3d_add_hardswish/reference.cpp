#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  // Upstream has one more bias and never reads it.
  Parameter bias = (net.unread_weight("bias", {s.out_channels, 1, 1, 1, 1}), Parameter());
  ConvTransposeOptions options{s.stride, s.padding, s.output_padding};
  ConvTranspose3d conv{net["conv_transpose"], s.in_channels, s.out_channels, s.kernel_size,
                       options};
};

static auto tensors(const Sizes& s) {
  const Shape y = {s.batch_size, s.out_channels, s.length(s.D), s.length(s.H), s.length(s.W)};
  return std::tuple{input<real>("x", {s.batch_size, s.in_channels, s.D, s.H, s.W}),
                    input<real>("add_input", y).with(normal(0, 2)), weights<Network>(s),
                    output<real>("y", y)};
}

static Tensor reference(const Sizes&, const Tensor& x, const Tensor& add_input,
                        const Network& net) {
  const Tensor u = net.conv(x) + add_input;
  return u * at::hardswish(u);
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-ConvTranspose", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 4,
                                             .out_channels = 8,
                                             .D = 4,
                                             .H = 4,
                                             .W = 4,
                                             .kernel_size = 3,
                                             .stride = 2,
                                             .padding = 1,
                                             .output_padding = 1},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 7,
                                           .D = 3,
                                           .H = 5,
                                           .W = 7,
                                           .kernel_size = 5,
                                           .stride = 3,
                                           .padding = 2,
                                           .output_padding = 2}});
}
