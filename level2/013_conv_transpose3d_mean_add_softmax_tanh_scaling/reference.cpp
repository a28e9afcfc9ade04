#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Parameter bias = net.weight("bias", {1, s.out_channels, 1, 1, 1}, normal(), normal());
  ConvTranspose3d conv{net["conv_transpose"], s.in_channels, s.out_channels, s.kernel_size,
                       ConvTransposeOptions{.stride = s.stride, .padding = s.padding}};
};

static auto tensors(const Sizes& s) {
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.depth, s.height, s.width}),
      weights<Network>(s),
      output<real>("y", {s.batch_size, s.out_channels, 1, s.length(s.height), s.length(s.width)})};
}

static Tensor reference(const Sizes& s, const Tensor& x, const Network& net) {
  Tensor y = net.conv(x).mean(2, /*keepdim=*/true) + net.bias;
  y = at::softmax(y, 1);
  return at::tanh(y) * s.scaling_factor;
}

// The mean over the depth of z is a two-dimensional convolution of sums of x over the depth, one
// sum for each tap along it.
static LeastWork least(const Sizes& s) {
  const auto sums = static_cast<double>(s.batch_size * s.in_channels * s.kernel_size);
  const auto area = static_cast<double>(s.height * s.width * s.kernel_size * s.kernel_size);
  return {.flops = 2 * sums * area * static_cast<double>(s.out_channels)};
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-ConvTranspose", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 4,
                                             .out_channels = 16,
                                             .depth = 4,
                                             .height = 10,
                                             .width = 10,
                                             .kernel_size = 3,
                                             .stride = 1,
                                             .padding = 1,
                                             .scaling_factor = 2},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 13,
                                           .depth = 3,
                                           .height = 5,
                                           .width = 7,
                                           .kernel_size = 4,
                                           .stride = 3,
                                           .padding = 2,
                                           .scaling_factor = -0.7}})
      .needing(least);
}
