#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

// Every channel of every sample has its own mean and spread, which means do not average away.
static void varied(Tensor& x, at::Generator& rng) {
  const Tensor each = at::empty({x.size(0), x.size(1), 1, 1}, x.options());
  x.normal_(0, 1, rng).mul_(each.uniform_(-2, 2, rng).exp2_());
  x.add_(each.uniform_(-1, 1, rng));
}

struct Network {
  Scope net;
  Sizes s;
  Conv2d conv{net["conv"], s.in_channels, s.out_channels, s.kernel_size};
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}).with(varied),
                    weights<Network>(s), output<real>("y", {s.batch_size, s.out_channels})};
}

static Tensor reference(const Sizes&, Tensor x, const Network& n) {
  x = at::adaptive_avg_pool2d(at::gelu(n.conv(x)), {1, 1});
  return x.squeeze(-1).squeeze(-1);
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-Conv", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 8,
                                             .out_channels = 24,
                                             .height = 18,
                                             .width = 18,
                                             .kernel_size = 3},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 19,
                                           .height = 13,
                                           .width = 17,
                                           .kernel_size = 2}});
}
