#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Parameter bias{net.weight("bias", {1, s.out_features, 1, 1}, normal(), normal())};
  Linear gemm{net["gemm"], s.in_features, s.out_features};
  GroupNorm group_norm{net["group_norm"], s.num_groups, s.out_features};
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_features}), weights<Network>(s),
                    output<real>("y", {1, s.out_features, s.batch_size, 1})};
}

static Tensor reference(const Sizes&, Tensor x, const Network& n) {
  x = n.gemm(x);
  x = n.group_norm(x);
  x = std::get<0>(at::min(x, 1, /*keepdim=*/true));
  return x + n.bias;
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-MatMul", tensors, reference,
      {.smoke = {.batch_size = 16, .in_features = 256, .out_features = 192, .num_groups = 12},
       .odd = {.batch_size = 7, .in_features = 131, .out_features = 105, .num_groups = 7}});
}
