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
                                  {.smoke = {2, 4, 16, 3, 8, 8, 4, 2, 1, 1e-5, 2},
                                   .odd = {3, 5, 19, 5, 5, 7, 5, 3, 2, 0.01, -0.7}});
}
