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
  const int64_t less = s.kernel_size - 1;
  const Shape x = {s.batch_size, s.in_channels, s.D, s.H, s.W};
  return std::tuple{input<real>("x", x).with(normal(0, 2)), weights<Network>(s),
                    output<real>("y", {s.batch_size, s.out_channels, s.H - less, s.W - less})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& n) {
  return at::softmax(std::get<0>(at::min(n.conv(x), 2)), 1);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-Conv", tensors, reference,
      {.smoke = {.batch_size = 2, .in_channels = 3, .out_channels = 24, .D = 6, .H = 12, .W = 12},
       .odd = {.batch_size = 3,
               .in_channels = 5,
               .out_channels = 19,
               .D = 7,
               .H = 9,
               .W = 13,
               .kernel_size = 2}});
}
