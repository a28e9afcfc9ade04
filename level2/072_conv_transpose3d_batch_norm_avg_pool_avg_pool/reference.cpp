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
  BatchNorm norm{net["batch_norm"], s.out_channels};
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_channels, s.depth, s.height, s.width})
                        .with(scaled(spiked(), 4, 8)),
                    weights<Network>(s),
                    output<real>("y", {s.batch_size, s.out_channels, s.pooled(s.depth),
                                       s.pooled(s.height), s.pooled(s.width)})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& net) {
  return at::avg_pool3d(at::avg_pool3d(net.norm(net.conv(x)), 2), 2);
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-ConvTranspose", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 3,
                                             .out_channels = 8,
                                             .depth = 8,
                                             .height = 8,
                                             .width = 8,
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
                                           .padding = 2}});
}
