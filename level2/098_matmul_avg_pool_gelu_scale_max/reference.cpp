#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Linear matmul{net["matmul"], s.in_features, s.out_features};
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_features}), weights<Network>(s),
                    output<real>("y", {s.batch_size})};
}

static Tensor reference(const Sizes& s, Tensor x, const Network& n) {
  x = n.matmul(x);
  x = at::avg_pool1d(x.unsqueeze(1), s.pool_kernel_size).squeeze(1);
  x = at::gelu(x);
  x = x * s.scale_factor;
  return std::get<0>(at::max(x, 1));
}

// The means may be taken before the product: of the weights.
static LeastWork least(const Sizes& s) {
  const int64_t windows = s.out_features / s.pool_kernel_size;
  return {.flops =
              static_cast<double>((s.out_features + 2 * s.batch_size * windows) * s.in_features)};
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-MatMul", tensors, reference,
                                  {.smoke = {.batch_size = 16,
                                             .in_features = 256,
                                             .out_features = 192,
                                             .pool_kernel_size = 16,
                                             .scale_factor = 2},
                                   .odd = {.batch_size = 7,
                                           .in_features = 131,
                                           .out_features = 109,
                                           .pool_kernel_size = 5,
                                           .scale_factor = -0.35}})
      .needing(least);
}
