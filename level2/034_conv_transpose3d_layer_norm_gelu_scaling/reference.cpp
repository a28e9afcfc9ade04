#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  ConvTranspose3d conv{net["conv_transpose"], s.in_channels, s.out_channels, s.kernel_size,
                       ConvTransposeOptions{.stride = s.stride, .padding = s.padding}};
  LayerNorm norm{net["layer_norm"], {s.out_channels}, s.eps};
};

static auto tensors(const Sizes& s) {
  TORCH_CHECK(s.out_channels == s.length(s.W),
              "out_channels must be the width of the transposed convolution");
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.D, s.H, s.W}), weights<Network>(s),
      output<real>("y",
                   {s.batch_size, s.out_channels, s.length(s.D), s.length(s.H), s.length(s.W)})};
}

static Tensor reference(const Sizes& s, const Tensor& x, const Network& net) {
  return at::gelu(net.norm(net.conv(x))) * s.scaling_factor;
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-ConvTranspose", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 4,
                                             .out_channels = 16,
                                             .D = 3,
                                             .H = 8,
                                             .W = 8,
                                             .kernel_size = 4,
                                             .stride = 2,
                                             .padding = 1,
                                             .eps = 1e-5,
                                             .scaling_factor = 2},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 19,
                                           .D = 5,
                                           .H = 5,
                                           .W = 7,
                                           .kernel_size = 5,
                                           .stride = 3,
                                           .padding = 2,
                                           .eps = 0.01,
                                           .scaling_factor = -0.7}});
}
