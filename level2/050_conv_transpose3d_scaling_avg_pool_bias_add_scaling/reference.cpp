#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Parameter scale1 = net.weight("scale1", {}, uniform(0.5, 0.9), constant(0.5));
  Parameter bias = net.weight("bias", {s.out_channels, 1, 1, 1}, normal(0, 0.3), normal());
  Parameter scale2 = net.weight("scale2", {}, uniform(1.5, 2.5), constant(1));
  ConvTranspose3d conv{net["conv_transpose"], s.in_channels, s.out_channels, s.kernel_size,
                       ConvTransposeOptions{.stride = s.stride, .padding = s.padding}};
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_channels, s.depth, s.height, s.width}),
                    weights<Network>(s),
                    output<real>("y", {s.batch_size, s.out_channels, s.pooled(s.depth),
                                       s.pooled(s.height), s.pooled(s.width)})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& net) {
  const Tensor y = at::avg_pool3d(net.conv(x) * net.scale1, 2);
  return (y + net.bias) * net.scale2;
}

// The mean over windows may come before the product: of the taps of a kernel so averaged, about
// every second one along each dimension meets an element of x.
static LeastWork least(const Sizes& s) {
  const auto taps = static_cast<double>(s.kernel_size + 1) / 2;
  const auto values = static_cast<double>(s.batch_size * s.in_channels * s.depth * s.height);
  const auto products = static_cast<double>(s.width * s.out_channels) * taps * taps * taps;
  return {.flops = 2 * values * products};
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-ConvTranspose", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 3,
                                             .out_channels = 8,
                                             .depth = 4,
                                             .height = 6,
                                             .width = 6,
                                             .kernel_size = 3,
                                             .stride = 2,
                                             .padding = 1},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 7,
                                           .depth = 3,
                                           .height = 5,
                                           .width = 7,
                                           .kernel_size = 4,
                                           .stride = 3,
                                           .padding = 2}})
      .needing(least);
}
