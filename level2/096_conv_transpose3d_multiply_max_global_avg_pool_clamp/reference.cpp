#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  int64_t k = s.kernel_size;
  Parameter weight = net.weight("conv_transpose.weight", {s.in_channels, s.out_channels, k, k, k});
  // Large, so that means of some channels lie beyond the bounds.
  Parameter bias = net.weight("conv_transpose.bias", {s.out_channels}, normal(0, 1.5),
                              fan_in_uniform(s.out_channels* k* k* k));
};

// Every channel of a sample has its own offset, which a mean does not average away.
static void with_offsets(Tensor& x, at::Generator& rng) {
  normal()(x, rng);
  x.add_(at::empty({x.size(0), x.size(1), 1, 1, 1}, x.options()).uniform_(-8, 8, rng));
}

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_channels, s.depth, s.height, s.width})
                        .with(with_offsets),
                    weights<Network>(s),
                    output<real>("y", {s.batch_size, s.out_channels, 1, 1, 1})};
}

static Tensor reference(const Sizes& s, const Tensor& x, const Network& net) {
  Tensor y = at::conv_transpose3d(x, net.weight, *net.bias, s.stride, s.padding) * s.scale;
  y = at::max_pool3d(y, s.maxpool_kernel_size);
  return at::clamp(at::adaptive_avg_pool3d(y, {1, 1, 1}), 0, 1);
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
                                             .scale = 0.5,
                                             .maxpool_kernel_size = 2},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 7,
                                           .depth = 5,
                                           .height = 5,
                                           .width = 7,
                                           .kernel_size = 4,
                                           .stride = 3,
                                           .padding = 2,
                                           .scale = -0.7,
                                           .maxpool_kernel_size = 3}});
}
