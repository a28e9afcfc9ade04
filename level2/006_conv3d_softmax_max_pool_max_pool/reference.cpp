#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Conv3d conv{net["conv"], s.in_channels, s.out_channels, s.kernel_size};
};

// Inputs of one scale keep many channels relevant to the softmax.
static auto tensors(const Sizes& s) {
  const Shape x = {s.batch_size, s.in_channels, s.depth, s.height, s.width};
  const Shape y = {s.batch_size, s.out_channels, s.pooled(s.depth), s.pooled(s.height),
                   s.pooled(s.width)};
  return std::tuple{input<real>("x", x).with(normal()), weights<Network>(s), output<real>("y", y)};
}

static Tensor reference(const Sizes& s, Tensor x, const Network& n) {
  x = at::softmax(n.conv(x), 1);
  x = at::max_pool3d(x, s.pool_kernel_size);
  return at::max_pool3d(x, s.pool_kernel_size);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-Conv", tensors, reference,
      {.smoke = {2, 3, 16, 10, 14, 14}, .odd = {3, 5, 7, 21, 15, 23, 2, 3}});
}
