#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

// Every channel of every sample has its own mean and spread, which sums and means do not average
// away.
static void varied(Tensor& x, at::Generator& rng) {
  const Tensor each = at::empty({x.size(0), x.size(1), 1, 1}, x.options());
  x.normal_(0, 1, rng).mul_(each.uniform_(-2, 2, rng).exp2_());
  x.add_(each.uniform_(-2, 2, rng));
}

struct Network {
  Scope net;
  Sizes s;
  Conv2d conv{net["conv"], s.in_channels, s.out_channels, s.kernel_size};
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}).with(varied),
                    weights<Network>(s), output<real>("y", {s.batch_size})};
}

static Tensor reference(const Sizes& s, Tensor x, const Network& n) {
  x = at::avg_pool2d(n.conv(x), s.pool_kernel_size);
  return at::sum(at::sigmoid(x), {1, 2, 3});
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-Conv", tensors, reference,
                                  {.smoke = {.batch_size = 4,
                                             .in_channels = 4,
                                             .out_channels = 16,
                                             .height = 24,
                                             .width = 24,
                                             .kernel_size = 3,
                                             .pool_kernel_size = 4},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 19,
                                           .height = 17,
                                           .width = 19,
                                           .kernel_size = 4,
                                           .pool_kernel_size = 3}});
}
