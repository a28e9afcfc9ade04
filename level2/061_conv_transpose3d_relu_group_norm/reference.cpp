#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  ConvTranspose3d conv{
      net["conv_transpose"], s.in_channels, s.out_channels, s.kernel_size, {.bias = false}};
  GroupNorm norm{net["group_norm"], s.groups, s.out_channels};
};

static auto tensors(const Sizes& s) {
  const int64_t more = s.kernel_size - 1;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.D, s.H, s.W}), weights<Network>(s),
      output<real>("y", {s.batch_size, s.out_channels, s.D + more, s.H + more, s.W + more})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& net) {
  return net.norm(at::relu(net.conv(x)));
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-ConvTranspose", tensors, reference,
      {.smoke = {2, 4, 16, 6, 6, 6, 3, 4}, .odd = {3, 5, 21, 3, 5, 7, 4, 7}});
}
