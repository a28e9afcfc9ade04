#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Parameter bias = net.weight("bias", {s.out_channels, 1, 1}, normal(), normal());
  ConvTranspose2d conv{net["conv_transpose"], s.in_channels, s.out_channels, s.kernel_size};
};

// Each channel of a sample has its own mean, or else all samples would have the same means, 0.
static void with_offsets(at::Tensor& x, at::Generator& rng) {
  x.normal_(0, 1, rng);
  x.add_(at::empty({x.size(0), x.size(1), 1, 1}, x.options()).uniform_(-8, 8, rng));
}

static auto tensors(const Sizes& s) {
  const Shape x = {s.batch_size, s.in_channels, s.height, s.width};
  return std::tuple{input<real>("x", x).with(with_offsets), weights<Network>(s),
                    output<real>("y", {s.batch_size, 1})};
}

static Tensor reference(const Sizes&, Tensor x, const Network& n) {
  x = at::mean(n.conv(x), {2, 3}, /*keepdim=*/true);
  x = at::logsumexp(x + n.bias, {1}, /*keepdim=*/true);
  return at::sum(x, {2, 3}) * 10.0;
}

// Each element of x meets each weight of its channel once, so the means follow from sums of both.
static LeastWork least(const Sizes& s) {
  return {.flops = 2.0 * s.batch_size * s.in_channels * s.out_channels};
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-ConvTranspose", tensors, reference,
                                  {.smoke = {.batch_size = 4,
                                             .in_channels = 8,
                                             .out_channels = 16,
                                             .height = 16,
                                             .width = 16},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 19,
                                           .height = 11,
                                           .width = 17,
                                           .kernel_size = 4}})
      .needing(least);
}
