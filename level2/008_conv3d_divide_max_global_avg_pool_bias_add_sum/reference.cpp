#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Parameter bias = net.weight("bias", {s.out_channels, 1, 1, 1}, normal(), normal());
  Conv3d conv{net["conv"], s.in_channels, s.out_channels, s.kernel_size};
};

// Each channel of a sample has its own mean, or else all samples would have nearly the same sum.
static void with_offsets(at::Tensor& x, at::Generator& rng) {
  x.normal_(0, 1, rng);
  x.add_(at::empty({x.size(0), x.size(1), 1, 1, 1}, x.options()).uniform_(-4, 4, rng));
}

static auto tensors(const Sizes& s) {
  const Shape x = {s.batch_size, s.in_channels, s.depth, s.height, s.width};
  return std::tuple{input<real>("x", x).with(with_offsets), weights<Network>(s),
                    output<real>("y", {s.batch_size, 1, 1, 1})};
}

static Tensor reference(const Sizes& s, Tensor x, const Network& n) {
  x = n.conv(x) / s.divisor;
  x = at::max_pool3d(x, s.pool_size);
  x = at::adaptive_avg_pool3d(x, {1, 1, 1}) + n.bias;
  return at::sum(x, 1);
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-Conv", tensors, reference,
                                  {.smoke = {.batch_size = 4,
                                             .in_channels = 4,
                                             .out_channels = 16,
                                             .depth = 6,
                                             .height = 12,
                                             .width = 12},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 19,
                                           .depth = 9,
                                           .height = 10,
                                           .width = 14,
                                           .kernel_size = {2, 4, 4},
                                           .divisor = -0.75,
                                           .pool_size = {3, 3, 4}}});
}
