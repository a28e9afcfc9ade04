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
  // Of both signs and large, so that the hard swish meets values beyond both its bounds.
  Parameter weight = net.weight("group_norm.weight", {s.out_channels}, normal(0, 2), constant(1));
  Parameter bias = net.weight("group_norm.bias", {s.out_channels});
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_channels, s.depth, s.height, s.width}),
                    weights<Network>(s),
                    output<real>("y", {s.batch_size, s.out_channels, s.length(s.depth),
                                       s.length(s.height), s.length(s.width)})};
}

static Tensor reference(const Sizes& s, const Tensor& x, const Network& net) {
  const Tensor z = net.conv(x);
  return at::hardswish(at::group_norm(at::sigmoid(z) * z, s.groups, *net.weight, *net.bias, s.eps));
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
                                             .padding = 1,
                                             .groups = 2,
                                             .eps = 1e-5},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 15,
                                           .depth = 3,
                                           .height = 5,
                                           .width = 7,
                                           .kernel_size = 4,
                                           .stride = 3,
                                           .padding = 2,
                                           .groups = 5,
                                           .eps = 0.01}});
}
