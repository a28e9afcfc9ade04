#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Linear gemm{net["gemm"], s.in_features, s.out_features};
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_features}), weights<Network>(s),
                    output<real>("y", {s.batch_size, s.out_features})};
}

static Tensor reference(const Sizes& s, Tensor x, const Network& n) {
  x = n.gemm(x);
  x = x * s.multiplier;
  return at::leaky_relu(x, s.negative_slope);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-MatMul", tensors, reference,
      {.smoke = {.batch_size = 16, .in_features = 256, .out_features = 192},
       .odd = {.batch_size = 7,
               .in_features = 131,
               .out_features = 109,
               .multiplier = -0.75,
               .negative_slope = 0.35}});
}
