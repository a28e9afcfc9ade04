#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

// Every channel of every sample has its own mean and spread, so that those of the groups differ.
static void varied(Tensor& x, at::Generator& rng) {
  const Tensor each = at::empty({x.size(0), x.size(1), 1, 1}, x.options());
  x.normal_(0, 1, rng).mul_(each.uniform_(-2, 2, rng).exp2_());
  x.add_(each.uniform_(-1, 1, rng));
}

struct Network {
  Scope net;
  Sizes s;
  Parameter scale = net.weight("scale", {s.out_channels, 1, 1}, normal(0, 0.7), constant(1));
  Conv2d conv{net["conv"], s.in_channels, s.out_channels, s.kernel_size};
  GroupNorm group_norm{net["group_norm"], s.num_groups, s.out_channels};
};

static auto tensors(const Sizes& s) {
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}).with(varied),
      weights<Network>(s),
      output<real>("y", {s.batch_size, s.out_channels, s.pooled(s.height), s.pooled(s.width)})};
}

static Tensor reference(const Sizes& s, Tensor x, const Network& n) {
  x = n.group_norm(n.conv(x)) * n.scale;
  x = at::max_pool2d(x, s.maxpool_kernel_size);
  return at::clamp(x, s.clamp_min, s.clamp_max);
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-Conv", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 8,
                                             .out_channels = 24,
                                             .height = 22,
                                             .width = 22,
                                             .kernel_size = 3,
                                             .num_groups = 6,
                                             .maxpool_kernel_size = 4},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 21,
                                           .height = 17,
                                           .width = 19,
                                           .kernel_size = 4,
                                           .num_groups = 7,
                                           .maxpool_kernel_size = 3,
                                           .clamp_min = -0.4,
                                           .clamp_max = 0.6}});
}
