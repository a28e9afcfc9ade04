#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  ConvTranspose2d conv{net["conv_transpose"],
                       s.in_channels,
                       s.out_channels,
                       s.kernel_size,
                       {.stride = s.stride, .padding = s.padding}};
  BatchNorm batch_norm{net["batch_norm"], s.out_channels};
  GroupNorm group_norm{net["group_norm"], s.num_groups, s.out_channels};
};

// Each channel of a sample has its own mean and spread: statistics of a sample are not the batch's.
static void uneven(at::Tensor& x, at::Generator& rng) {
  const auto own = [&] { return at::empty({x.size(0), x.size(1), 1, 1}, x.options()); };
  x.normal_(0, 1, rng).mul_(own().uniform_(0.25, 2, rng)).add_(own().uniform_(-2, 2, rng));
}

static auto tensors(const Sizes& s) {
  const Shape x = {s.batch_size, s.in_channels, s.height, s.width};
  return std::tuple{
      input<real>("x", x).with(uneven), weights<Network>(s),
      output<real>("y", {s.batch_size, s.out_channels, s.out_height() / 2, s.out_width() / 2})};
}

static Tensor reference(const Sizes&, Tensor x, const Network& n) {
  x = at::tanh(n.batch_norm(n.conv(x)));
  return n.group_norm(at::max_pool2d(x, 2, 2));
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-ConvTranspose", tensors, reference,
                                  {.smoke = {.batch_size = 4,
                                             .in_channels = 8,
                                             .out_channels = 16,
                                             .height = 8,
                                             .width = 8,
                                             .kernel_size = 5,
                                             .stride = 1,
                                             .padding = 1,
                                             .num_groups = 4},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 21,
                                           .height = 7,
                                           .width = 10,
                                           .kernel_size = 4,
                                           .stride = 2,
                                           .padding = 2,
                                           .num_groups = 3}});
}
