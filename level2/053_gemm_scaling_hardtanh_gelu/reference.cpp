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

// Wide enough to reach the bounds.
static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_features}).with(normal(0, 4)),
                    weights<Network>(s), output<real>("y", {s.batch_size, s.out_features})};
}

static Tensor reference(const Sizes& s, Tensor x, const Network& n) {
  x = n.gemm(x);
  x = x * s.scaling_factor;
  x = at::hardtanh(x, s.hardtanh_min, s.hardtanh_max);
  return at::gelu(x);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-MatMul", tensors, reference,
      {.smoke = {.batch_size = 16, .in_features = 256, .out_features = 192},
       .odd = {.batch_size = 7,
               .in_features = 131,
               .out_features = 109,
               .scaling_factor = -0.35,
               .hardtanh_min = -1.5,
               .hardtanh_max = 0.75}});
}
