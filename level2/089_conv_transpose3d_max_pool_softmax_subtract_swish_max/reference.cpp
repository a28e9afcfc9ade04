#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Parameter subtract = net.weight("subtract", {s.out_channels}, normal(0, 0.2), normal());
  ConvTransposeOptions options{s.stride, s.padding, s.output_padding};
  ConvTranspose3d conv{net["conv_transpose"], s.in_channels, s.out_channels, s.kernel_size,
                       options};
};

static auto tensors(const Sizes& s) {
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.depth, s.height, s.width}),
      weights<Network>(s),
      output<real>("y", {s.batch_size, s.pooled(s.depth), s.pooled(s.height), s.pooled(s.width)})};
}

static Tensor reference(const Sizes& s, const Tensor& x, const Network& net) {
  Tensor y = at::max_pool3d(net.conv(x), s.pool_kernel_size, s.pool_stride, s.pool_padding);
  y = at::softmax(y, 1) - net.subtract->view({1, -1, 1, 1, 1});
  return std::get<0>(at::max(at::sigmoid(y) * y, 1));
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
                                             .output_padding = 1,
                                             .pool_kernel_size = 2,
                                             .pool_stride = 2,
                                             .pool_padding = 0},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 7,
                                           .depth = 3,
                                           .height = 5,
                                           .width = 7,
                                           .kernel_size = 4,
                                           .stride = 3,
                                           .padding = 2,
                                           .output_padding = 2,
                                           .pool_kernel_size = 4,
                                           .pool_stride = 3,
                                           .pool_padding = 1}});
}
