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
                                  {.smoke = {2, 4, 16, 4, 10, 10, 3, 1, 1, 2},
                                   .odd = {3, 5, 13, 3, 5, 7, 4, 3, 2, -0.7}})
      .needing(least);
}
