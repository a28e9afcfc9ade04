#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Parameter multiplier = net.weight("multiplier", {s.out_channels, 1, 1, 1}, normal(), normal());
  Conv3d conv{net["conv"], s.in_channels, s.out_channels, s.kernel_size};
  InstanceNorm instance_norm{net["instance_norm"], s.out_channels};
};

// Each channel of a sample has its own mean and spread.
static void uneven(at::Tensor& x, at::Generator& rng) {
  const auto own = [&] { return at::empty({x.size(0), x.size(1), 1, 1, 1}, x.options()); };
  x.normal_(0, 1, rng).mul_(own().uniform_(0.25, 2, rng)).add_(own().uniform_(-2, 2, rng));
}

static auto tensors(const Sizes& s) {
  const int64_t less = s.kernel_size - 1;
  const Shape x = {s.batch_size, s.in_channels, s.depth, s.height, s.width};
  return std::tuple{
      input<real>("x", x).with(uneven), weights<Network>(s),
      output<real>("y", {s.batch_size, s.depth - less, s.height - less, s.width - less})};
}

static Tensor reference(const Sizes& s, Tensor x, const Network& n) {
  x = n.instance_norm(n.conv(x) * n.multiplier);
  x = at::clamp(x, s.clamp_min, s.clamp_max) * n.multiplier;
  return std::get<0>(at::max(x, 1));
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-Conv", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 3,
                                             .out_channels = 16,
                                             .depth = 6,
                                             .height = 12,
                                             .width = 12},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 7,
                                           .depth = 7,
                                           .height = 9,
                                           .width = 13,
                                           .kernel_size = 2,
                                           .clamp_min = -0.5,
                                           .clamp_max = 1.25}});
}
