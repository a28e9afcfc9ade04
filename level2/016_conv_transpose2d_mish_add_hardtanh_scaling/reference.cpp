#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  ConvTranspose2d conv{
      net["conv_transpose"],
      s.in_channels,
      s.out_channels,
      s.kernel_size,
      {.stride = s.stride, .padding = s.padding, .output_padding = s.output_padding}};
};

// Inputs of one scale leave most values between the bounds of the clamp.
static auto tensors(const Sizes& s) {
  const Shape x = {s.batch_size, s.in_channels, s.height, s.width};
  return std::tuple{
      input<real>("x", x).with(normal()), weights<Network>(s),
      output<real>("y", {s.batch_size, s.out_channels, s.out_height(), s.out_width()})};
}

static Tensor reference(const Sizes& s, Tensor x, const Network& n) {
  x = at::mish(n.conv(x)) + s.add_value;
  return at::hardtanh(x, -1, 1) * s.scale;
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-ConvTranspose", tensors, reference,
      {.smoke = {2, 8, 16, 12, 12}, .odd = {3, 17, 19, 11, 7, 4, 3, 2, 2, -0.8, -1.5}});
}
