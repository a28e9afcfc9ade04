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
                    output<real>("y", {s.batch_size, s.out_features})};
}

static Tensor reference(const Sizes& s, Tensor x, const Network& n) {
  x = n.matmul(x);
  const Tensor original = x.clone();
  x = x * s.scaling_factor;
  return x + original;
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-MatMul", tensors, reference,
      {.smoke = {.batch_size = 32, .in_features = 128, .out_features = 192, .scaling_factor = 2},
       .odd = {
           .batch_size = 19, .in_features = 131, .out_features = 109, .scaling_factor = -0.35}});
}
