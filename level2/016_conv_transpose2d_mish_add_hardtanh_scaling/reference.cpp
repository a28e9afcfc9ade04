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
      {.smoke = {.batch_size = 2, .in_channels = 8, .out_channels = 16, .height = 12, .width = 12},
       .odd = {.batch_size = 3,
               .in_channels = 17,
               .out_channels = 19,
               .height = 11,
               .width = 7,
               .kernel_size = 4,
               .stride = 3,
               .padding = 2,
               .output_padding = 2,
               .add_value = -0.8,
               .scale = -1.5}});
}
