#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Conv3d conv{net["conv"], s.in_channels, s.out_channels, s.kernel_size};
  GroupNorm norm{net["group_norm"], s.num_groups, s.out_channels};
};

// Each channel of a sample has its own mean and spread, and so have channels of a group after the
// convolution. With upstream's weights, all equal, they cancel in the mean.
static void uneven(at::Tensor& x, at::Generator& rng) {
  const auto own = [&] { return at::empty({x.size(0), x.size(1), 1, 1, 1}, x.options()); };
  x.normal_(0, 1, rng).mul_(own().uniform_(0.25, 2, rng)).add_(own().uniform_(-2, 2, rng));
}

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_channels, s.D, s.H, s.W}).with(uneven),
                    weights<Network>(s), output<real>("y", {s.batch_size})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& n) {
  return at::mean(n.norm(n.conv(x)), {1, 2, 3, 4});
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-Conv", tensors, reference,
      {.smoke = {.batch_size = 4, .in_channels = 3, .out_channels = 24, .D = 6, .H = 12, .W = 12},
       .odd = {.batch_size = 3,
               .in_channels = 5,
               .out_channels = 21,
               .D = 7,
               .H = 9,
               .W = 13,
               .kernel_size = 2,
               .num_groups = 3}});
}
