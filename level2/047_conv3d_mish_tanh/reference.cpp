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
      {.smoke = {.batch_size = 2, .in_channels = 4, .out_channels = 16, .D = 6, .H = 12, .W = 12},
       .odd = {.batch_size = 3,
               .in_channels = 5,
               .out_channels = 19,
               .D = 7,
               .H = 9,
               .W = 13,
               .kernel_size = 4,
               .stride = 2,
               .padding = 1}});
}
