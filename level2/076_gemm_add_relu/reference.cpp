#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Parameter bias{net.weight("bias", {s.out_features}, normal(), normal())};
  Linear gemm{net["gemm"], s.in_features, s.out_features, /*with_bias=*/false};
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_features}), weights<Network>(s),
                    output<real>("y", {s.batch_size, s.out_features})};
}

static Tensor reference(const Sizes&, Tensor x, const Network& n) {
  x = n.gemm(x);
  x = x + n.bias;
  return at::relu(x);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-MatMul", tensors, reference,
      {.smoke = {.batch_size = 16, .in_features = 256, .out_features = 192},
       .odd = {.batch_size = 7, .in_features = 131, .out_features = 109}});
}
