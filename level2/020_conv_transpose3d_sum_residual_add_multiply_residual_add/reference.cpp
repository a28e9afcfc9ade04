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
  return define<decltype(launch)>(
      "Fusion-ConvTranspose", tensors, reference,
      {.smoke = {2, 4, 8, 4, 6, 6, 3, 2, 1, 1}, .odd = {3, 5, 7, 3, 5, 7, 4, 3, 2, 2}});
}
