#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Parameter bias{net.weight("bias", {1}, uniform(0.25, 0.75), normal())};
  Linear matmul{net["matmul"], s.in_features, s.out_features};
  BatchNorm bn{net["bn"], s.out_features, s.bn_eps};
};

// An offset that gives every feature its own mean; samples alike, so that each counts for the norm.
static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_features}).with(normal(0.5, 2)),
                    weights<Network>(s), output<real>("y", {s.batch_size, s.out_features})};
}

static Tensor reference(const Sizes& s, Tensor x, const Network& n) {
  x = n.matmul(x);
  x = n.bn(x);
  x = x + n.bias;
  x = x / s.divide_value;
  return x * at::sigmoid(x);
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-MatMul", tensors, reference,
                                  {.smoke = {.batch_size = 32,
                                             .in_features = 128,
                                             .out_features = 192,
                                             .bn_eps = 1e-5,
                                             .divide_value = 0.8},
                                   .odd = {.batch_size = 23,
                                           .in_features = 131,
                                           .out_features = 109,
                                           .bn_eps = 0.3,
                                           .divide_value = -1.7}});
}
