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
  return define<decltype(launch)>(
      "Fusion-ConvTranspose", tensors, reference,
      {.smoke = {2, 4, 8, 4, 6, 6, 3, 2, 1, 1}, .odd = {3, 5, 7, 3, 5, 7, 4, 3, 2, 2}});
}
