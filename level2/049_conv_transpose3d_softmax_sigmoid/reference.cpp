#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  ConvTransposeOptions options{s.stride, s.padding, s.output_padding};
  ConvTranspose3d conv{net["conv_transpose"], s.in_channels, s.out_channels, s.kernel_size,
                       options};
};

static auto tensors(const Sizes& s) {
  const Fill values = scaled(spiked(), 3, 5);  // lets the softmax prefer some channels
  return std::tuple{input<real>("x", {s.batch_size, s.in_channels, s.D, s.H, s.W}).with(values),
                    weights<Network>(s),
                    output<real>("y", {s.batch_size, s.out_channels, s.length(s.D), s.length(s.H),
                                       s.length(s.W)})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& net) {
  return at::sigmoid(at::softmax(net.conv(x), 1));
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-ConvTranspose", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 4,
                                             .out_channels = 8,
                                             .D = 4,
                                             .H = 6,
                                             .W = 6,
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
                                           .kernel_size = 4,
                                           .stride = 3,
                                           .padding = 2,
                                           .output_padding = 2}});
}
