#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Parameter bias{net.weight("bias", {s.out_features}, normal(0, 0.5), normal())};
  Linear gemm{net["gemm"], s.in_features, s.out_features};
  GroupNorm groupnorm{net["groupnorm"], s.num_groups, s.out_features};
};

// Rows of the bounds' size: some elements are cut, and no group is cut as a whole.
static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_features}).with(normal()),
                    weights<Network>(s), output<real>("y", {s.batch_size, s.out_features})};
}

static Tensor reference(const Sizes&, Tensor x, const Network& n) {
  x = n.gemm(x);
  x = x + n.bias;
  x = at::hardtanh(x);
  x = at::mish(x);
  return n.groupnorm(x);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-MatMul", tensors, reference,
      {.smoke = {.batch_size = 16, .in_features = 256, .out_features = 192, .num_groups = 8},
       .odd = {.batch_size = 7, .in_features = 131, .out_features = 105, .num_groups = 5}});
}
