#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  ConvTranspose2d conv{
      net["conv_transpose"], s.in_channels, s.out_channels, s.kernel_size, {.stride = s.stride}};
  GroupNorm norm{net["group_norm"], s.num_groups, s.out_channels};
};

// Each channel of a sample has its own mean and spread, so that groups differ.
static void uneven(at::Tensor& x, at::Generator& rng) {
  const auto own = [&] { return at::empty({x.size(0), x.size(1), 1, 1}, x.options()); };
  x.normal_(0, 1, rng).mul_(own().uniform_(0.25, 2, rng)).add_(own().uniform_(-2, 2, rng));
}

static auto tensors(const Sizes& s) {
  const Shape x = {s.batch_size, s.in_channels, s.height, s.width};
  return std::tuple{
      input<real>("x", x).with(uneven), weights<Network>(s),
      output<real>("y", {s.batch_size, s.out_channels, s.out_height(), s.out_width()})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& n) {
  return n.norm(at::gelu(n.conv(x)));
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-ConvTranspose", tensors, reference,
      {.smoke = {.batch_size = 2, .in_channels = 8, .out_channels = 16, .height = 16, .width = 16},
       .odd = {.batch_size = 3,
               .in_channels = 5,
               .out_channels = 21,
               .height = 11,
               .width = 17,
               .kernel_size = 4,
               .stride = 2,
               .num_groups = 3}});
}
