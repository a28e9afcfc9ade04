#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  ConvTranspose2d conv{
      net["conv_transpose"], s.in_channels, s.out_channels, s.kernel_size, {.stride = s.stride}};
};

// Large inputs, or else the minimum with 0 would leave next to nothing. Of much larger ones only
// those few sums pass the GELU that cancel, and of these rounding decides: no other values.
static auto tensors(const Sizes& s) {
  const Shape x = {s.batch_size, s.in_channels, s.height, s.width};
  return std::tuple{
      input<real>("x", x).with(normal(0, 4)).only(), weights<Network>(s),
      output<real>("y", {s.batch_size, s.out_channels, s.out_height(), s.out_width()})};
}

static Tensor reference(const Sizes& s, Tensor x, const Network& n) {
  x = n.conv(x) + s.add_value;
  x = at::min(x, at::scalar_tensor(0, x.options()));
  return at::gelu(x) * s.multiply_value;
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-ConvTranspose", tensors, reference,
      {.smoke = {.batch_size = 2, .in_channels = 8, .out_channels = 16, .height = 12, .width = 12},
       .odd = {.batch_size = 3,
               .in_channels = 5,
               .out_channels = 19,
               .height = 11,
               .width = 17,
               .kernel_size = 3,
               .stride = 3,
               .add_value = -0.25,
               .multiply_value = -1.5}});
}
