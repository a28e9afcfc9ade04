#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  ConvTranspose3d conv{net["conv_transpose"], s.in_channels, s.out_channels, s.kernel_size};
  BatchNorm norm{net["batch_norm"], s.out_channels};
};

// Every channel of a sample has its own offset, which a mean does not average away.
static void with_offsets(Tensor& x, at::Generator& rng) {
  spiked()(x, rng);
  x.add_(at::empty({x.size(0), x.size(1), 1, 1, 1}, x.options()).uniform_(-8, 8, rng));
}

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_channels, s.depth, s.height, s.width})
                        .with(with_offsets),
                    weights<Network>(s),
                    output<real>("y", {s.batch_size, s.out_channels, 1, 1, 1})};
}

static Tensor reference(const Sizes& s, const Tensor& x, const Network& net) {
  return at::adaptive_avg_pool3d(net.norm(net.conv(x) * s.scale_factor), {1, 1, 1});
}

// Small factors, because the scaling shows by eps alone.
Task kb::task() {
  return define<decltype(launch)>("Fusion-ConvTranspose", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 4,
                                             .out_channels = 8,
                                             .depth = 4,
                                             .height = 6,
                                             .width = 6,
                                             .kernel_size = 5,
                                             .scale_factor = 0.04},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 7,
                                           .depth = 3,
                                           .height = 5,
                                           .width = 7,
                                           .kernel_size = 4,
                                           .scale_factor = -0.07}});
}
