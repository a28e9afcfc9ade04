#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Conv2d conv{net["conv"], s.in_channels, s.out_channels, s.kernel_size};
};

static auto tensors(const Sizes& s) {
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}), weights<Network>(s),
      output<real>("y", {s.batch_size, s.out_channels, s.pooled(s.height), s.pooled(s.width)})};
}

static Tensor reference(const Sizes& s, Tensor x, const Network& n) {
  x = at::hardswish(n.conv(x) - s.subtract_value);
  return at::mish(at::max_pool2d(x, s.pool_kernel_size));
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-Conv", tensors, reference,
      {.smoke = {2, 8, 24, 18, 18, 3}, .odd = {3, 5, 19, 17, 19, 4, -0.3, 3}});
}
