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
  auto task = define<decltype(launch)>("Fusion-Conv", tensors, reference,
                                       {.smoke = {.batch_size = 2,
                                                  .in_channels = 3,
                                                  .out_channels = 16,
                                                  .depth = 6,
                                                  .height = 12,
                                                  .width = 12},
                                        .odd = {.batch_size = 3,
                                                .in_channels = 5,
                                                .out_channels = 21,
                                                .depth = 7,
                                                .height = 9,
                                                .width = 13,
                                                .kernel_size = 2,
                                                .groups = 3,
                                                .min_value = -0.5,
                                                .max_value = -0.75,
                                                .dropout_p = 0.35}});
  task.degenerate =
      "nothing above min_value is left by the minimum, and nothing below it by the clamp";
  return std::move(task).needing(least);
}
