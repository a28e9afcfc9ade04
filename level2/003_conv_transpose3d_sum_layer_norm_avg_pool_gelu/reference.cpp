#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Parameter sum_weight = net.weight("sum_weight", {}, normal(1, 0.5), constant(1));
  ConvTransposeOptions options{s.stride, s.padding, s.output_padding};
  ConvTranspose3d conv{net["conv_transpose"], s.in_channels, s.out_channels, s.kernel_size,
                       options};
  LayerNorm norm{net["norm"], {s.norm_shape[0]}};
};

static auto tensors(const Sizes& s) {
  TORCH_CHECK(s.norm_shape[0] == s.length(2),
              "norm_shape must be the width of the transposed convolution");
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.depth, s.height, s.width}),
      weights<Network>(s),
      output<real>("y", {s.batch_size, s.out_channels, s.pooled(0), s.pooled(1), s.pooled(2)})};
}

static Tensor reference(const Sizes& s, const Tensor& x, const Network& net) {
  return at::gelu(at::avg_pool3d(net.norm(net.conv(x) + net.sum_weight), s.pool_kernel_size));
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-ConvTranspose", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 4,
                                             .out_channels = 8,
                                             .depth = 4,
                                             .height = 8,
                                             .width = 8,
                                             .kernel_size = {3, 3, 3},
                                             .stride = {2, 2, 2},
                                             .padding = {1, 1, 1},
                                             .output_padding = {1, 1, 1},
                                             .norm_shape = {16},
                                             .pool_kernel_size = {2, 2, 2}},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 7,
                                           .depth = 3,
                                           .height = 5,
                                           .width = 7,
                                           .kernel_size = {2, 4, 5},
                                           .stride = {1, 3, 3},
                                           .padding = {0, 2, 2},
                                           .output_padding = {0, 2, 0},
                                           .norm_shape = {19},
                                           .pool_kernel_size = {1, 3, 3}}});
}
