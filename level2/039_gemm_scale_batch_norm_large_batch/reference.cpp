#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  // So small that eps keeps the normalisation from cancelling it.
  Parameter scale{net.weight("scale", {s.out_features}, normal(0, 0.01), normal())};
  Linear gemm{net["gemm"], s.in_features, s.out_features};
  BatchNorm bn{net["bn"], s.out_features};
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_features}).with(normal()),
                    weights<Network>(s), output<real>("y", {s.batch_size, s.out_features})};
}

static Tensor reference(const Sizes&, Tensor x, const Network& n) {
  x = n.gemm(x);
  x = x * n.scale;
  return n.bn(x);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-MatMul", tensors, reference,
      {.smoke = {.batch_size = 64, .in_features = 96, .out_features = 128},
       .odd = {.batch_size = 37, .in_features = 75, .out_features = 101}});
}
