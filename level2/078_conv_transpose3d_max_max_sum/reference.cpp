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
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_channels, s.depth, s.height, s.width}),
                    weights<Network>(s),
                    output<real>("y", {s.batch_size, 1, s.pooled(s.depth), s.pooled(s.height),
                                       s.pooled(s.width)})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& net) {
  const Tensor y = at::max_pool3d(at::max_pool3d(net.conv(x), 2), 3);
  return at::sum(y, 1, /*keepdim=*/true);
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-ConvTranspose", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 2,
                                             .out_channels = 4,
                                             .depth = 8,
                                             .height = 8,
                                             .width = 8,
                                             .kernel_size = 5,
                                             .stride = 2,
                                             .padding = 2},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 7,
                                           .depth = 5,
                                           .height = 6,
                                           .width = 7,
                                           .kernel_size = 4,
                                           .stride = 3,
                                           .padding = 1}});
}
