#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Conv3d conv{net["conv"], s.in_channels, s.out_channels, s.kernel_size};
  GroupNorm norm{net["norm"], s.groups, s.out_channels};
};

static auto tensors(const Sizes& s) {
  const int64_t less = s.kernel_size - 1;
  const Shape x = {s.batch_size, s.in_channels, s.depth, s.height, s.width};
  const Shape y = {s.batch_size, s.out_channels, s.depth - less, s.height - less, s.width - less};
  const Fill keep = bernoulli(1 - s.dropout_p);
  return std::tuple{input<real>("x", x), input<bool>("mask", y).with(keep).upstream(keep),
                    weights<Network>(s), output<real>("y", y)};
}

// Upstream draws the dropout mask inside forward(); here it is an input.
static Tensor reference(const Sizes& s, Tensor x, const Tensor& mask, const Network& n) {
  x = n.norm(n.conv(x));
  x = at::min(x, at::scalar_tensor(s.min_value, x.options()));
  x = at::clamp(x, s.min_value, s.max_value);
  return x * mask / (1 - s.dropout_p);
}

// The result depends on the mask only.
static LeastWork least(const Sizes& s) {
  const int64_t less = s.kernel_size - 1;
  const auto elements = static_cast<double>(s.batch_size * s.out_channels * (s.depth - less) *
                                            (s.height - less) * (s.width - less));
  return {.bytes = elements * (sizeof(bool) + c10::elementSize(dtype_of<real>)), .flops = 0};
}

Task kb::task() {
  auto task = define<decltype(launch)>(
      "Fusion-Conv", tensors, reference,
      {.smoke = {2, 3, 16, 6, 12, 12}, .odd = {3, 5, 21, 7, 9, 13, 2, 3, -0.5, 0.75, 0.35}});
  task.degenerate =
      "nothing above min_value is left by the minimum, and nothing below it by the clamp";
  return std::move(task).needing(least);
}
