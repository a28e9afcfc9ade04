#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Conv3d conv{net["conv"],
              s.in_channels,
              s.out_channels,
              s.kernel_size,
              {.stride = s.stride, .padding = s.padding}};
};

// Inputs of one scale keep tanh away from its limits.
static auto tensors(const Sizes& s) {
  const Shape x = {s.batch_size, s.in_channels, s.D, s.H, s.W};
  const Shape y = {s.batch_size, s.out_channels, s.convolved(s.D), s.convolved(s.H),
                   s.convolved(s.W)};
  return std::tuple{input<real>("x", x).with(normal()), weights<Network>(s), output<real>("y", y)};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& n) {
  return at::tanh(at::mish(n.conv(x)));
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-Conv", tensors, reference,
      {.smoke = {2, 4, 16, 6, 12, 12}, .odd = {3, 5, 19, 7, 9, 13, 4, 2, 1}});
}
