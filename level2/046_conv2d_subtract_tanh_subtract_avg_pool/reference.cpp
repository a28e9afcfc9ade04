#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

// Every channel of every sample has its own mean and spread; tanh is not flat there.
static void varied(Tensor& x, at::Generator& rng) {
  const Tensor each = at::empty({x.size(0), x.size(1), 1, 1}, x.options());
  x.normal_(0, 1, rng).mul_(each.uniform_(-2, 1, rng).exp2_());
  x.add_(each.uniform_(-0.5, 0.5, rng));
}

struct Network {
  Scope net;
  Sizes s;
  Conv2d conv{net["conv"], s.in_channels, s.out_channels, s.kernel_size};
};

static auto tensors(const Sizes& s) {
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}).with(varied),
      weights<Network>(s),
      output<real>("y", {s.batch_size, s.out_channels, s.pooled(s.height), s.pooled(s.width)})};
}

static Tensor reference(const Sizes& s, Tensor x, const Network& n) {
  x = at::tanh(n.conv(x) - s.subtract1_value) - s.subtract2_value;
  return at::avg_pool2d(x, s.kernel_size_pool);
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
                                           .height = 17,
                                           .width = 19,
                                           .kernel_size = 4,
                                           .subtract1_value = -0.3,
                                           .subtract2_value = 0.7,
                                           .kernel_size_pool = 3}});
}
