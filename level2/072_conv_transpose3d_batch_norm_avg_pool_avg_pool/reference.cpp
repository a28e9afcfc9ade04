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
  return define<decltype(launch)>(
      "Fusion-ConvTranspose", tensors, reference,
      {.smoke = {2, 3, 8, 8, 8, 8, 3, 2, 1}, .odd = {3, 5, 7, 3, 5, 7, 4, 3, 2}});
}
