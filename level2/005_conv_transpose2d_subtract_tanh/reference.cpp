#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Parameter bias = net.weight("bias", {s.out_channels, 1, 1}, normal(), normal());
  ConvTranspose2d conv{
      net["conv_transpose"],
      s.in_channels,
      s.out_channels,
      s.kernel_size,
      {.stride = s.stride, .padding = s.padding, .output_padding = s.output_padding}};
};

// Inputs of one scale keep tanh away from its limits.
static auto tensors(const Sizes& s) {
  const Shape x = {s.batch_size, s.in_channels, s.height, s.width};
  return std::tuple{
      input<real>("x", x).with(normal()), weights<Network>(s),
      output<real>("y", {s.batch_size, s.out_channels, s.out_height(), s.out_width()})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& n) {
  return at::tanh(n.conv(x) - n.bias);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-ConvTranspose", tensors, reference,
      {.smoke = {.batch_size = 2, .in_channels = 8, .out_channels = 16, .height = 12, .width = 12},
       .odd = {.batch_size = 3,
               .in_channels = 5,
               .out_channels = 19,
               .height = 11,
               .width = 17,
               .kernel_size = 3,
               .stride = 3,
               .padding = 2,
               .output_padding = 2}});
}
