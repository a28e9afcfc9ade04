#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

// Every channel of every sample has its own mean and spread, so that those of the output differ.
static void varied(Tensor& x, at::Generator& rng) {
  const Tensor each = at::empty({x.size(0), x.size(1), 1, 1}, x.options());
  x.normal_(0, 1, rng).mul_(each.uniform_(-2, 2, rng).exp2_());
  x.add_(each.uniform_(-1, 1, rng));
}

struct Network {
  Scope net;
  Sizes s;
  Conv2d conv{net["conv"], s.in_channels, s.out_channels, s.kernel_size};
  InstanceNorm instance_norm{net["instance_norm"], s.out_channels};
};

static auto tensors(const Sizes& s) {
  const int64_t k = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}).with(varied),
      weights<Network>(s),
      output<real>("y", {s.batch_size, s.out_channels, s.height - k + 1, s.width - k + 1})};
}

static Tensor reference(const Sizes& s, Tensor x, const Network& n) {
  return n.instance_norm(n.conv(x)) / s.divide_by;
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
                                           .kernel_size = 2,
                                           .divide_by = -0.7}});
}
