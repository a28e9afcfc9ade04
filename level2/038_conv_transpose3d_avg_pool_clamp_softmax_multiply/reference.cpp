#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Parameter scale = net.weight("scale", {1, s.out_channels, 1, 1, 1}, normal(1, 0.5), constant(1));
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

static Tensor reference(const Sizes& s, const Tensor& x, const Network& net) {
  const Tensor z =
      at::clamp(net.conv(at::avg_pool3d(x, s.pool_kernel_size)), s.clamp_min, s.clamp_max);
  return at::softmax(z.flatten(2), 2).view_as(z) * net.scale;
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-ConvTranspose", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 4,
                                             .out_channels = 8,
                                             .depth = 8,
                                             .height = 12,
                                             .width = 12,
                                             .kernel_size = 3,
                                             .stride = 2,
                                             .padding = 1,
                                             .output_padding = 1,
                                             .pool_kernel_size = 2,
                                             .clamp_min = 0,
                                             .clamp_max = 1},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 7,
                                           .depth = 10,
                                           .height = 13,
                                           .width = 17,
                                           .kernel_size = 4,
                                           .stride = 3,
                                           .padding = 2,
                                           .output_padding = 2,
                                           .pool_kernel_size = 3,
                                           .clamp_min = -0.4,
                                           .clamp_max = 1.7}});
}
