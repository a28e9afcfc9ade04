#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

// Every channel of every sample has its own mean and spread; tanh is not flat at its maxima.
static void varied(Tensor& x, at::Generator& rng) {
  const Tensor each = at::empty({x.size(0), x.size(1), 1, 1}, x.options());
  x.normal_(0, 1, rng).mul_(each.uniform_(-4, 0, rng).exp2_());
  x.add_(each.uniform_(-0.5, 0.5, rng));
}

struct Network {
  Scope net;
  Sizes s;
  Parameter bias = net.weight("bias", {s.out_channels, 1, 1}, normal(), normal());
  Conv2d conv{net["conv"], s.in_channels, s.out_channels, s.kernel_size};
};

static auto tensors(const Sizes& s) {
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}).with(varied),
      weights<Network>(s),
      output<real>("y", {s.batch_size, s.out_channels, s.pooled(s.height), s.pooled(s.width)})};
}

static Tensor reference(const Sizes& s, Tensor x, const Network& n) {
  x = at::tanh(n.conv(x)) * s.scaling_factor + n.bias;
  return at::max_pool2d(x, s.pool_kernel_size);
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-Conv", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 8,
                                             .out_channels = 24,
                                             .height = 22,
                                             .width = 22,
                                             .kernel_size = 3},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 19,
                                           .height = 17,
                                           .width = 19,
                                           .kernel_size = 4,
                                           .scaling_factor = -0.7,
                                           .pool_kernel_size = 3}});
}
