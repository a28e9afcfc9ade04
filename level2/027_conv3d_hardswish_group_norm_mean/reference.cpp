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

// Each channel of a sample has its own mean and spread, so that channels of a group differ, and
// hard swish is left and right of its bounds and between them.
static void uneven(at::Tensor& x, at::Generator& rng) {
  const auto own = [&] { return at::empty({x.size(0), x.size(1), 1, 1, 1}, x.options()); };
  x.normal_(0, 1, rng).mul_(own().uniform_(0.5, 4, rng)).add_(own().uniform_(-2, 2, rng));
}

static auto tensors(const Sizes& s) {
  const Shape x = {s.batch_size, s.in_channels, s.depth, s.height, s.width};
  return std::tuple{input<real>("x", x).with(uneven), weights<Network>(s),
                    output<real>("y", {s.batch_size, s.out_channels})};
}

static Tensor reference(const Sizes&, Tensor x, const Network& n) {
  x = n.norm(at::hardswish(n.conv(x)));
  return at::mean(x, {2, 3, 4});
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-Conv", tensors, reference,
                                  {.smoke = {.batch_size = 4,
                                             .in_channels = 3,
                                             .out_channels = 16,
                                             .depth = 8,
                                             .height = 12,
                                             .width = 12},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 21,
                                           .depth = 7,
                                           .height = 9,
                                           .width = 13,
                                           .kernel_size = 3,
                                           .num_groups = 3}});
}
