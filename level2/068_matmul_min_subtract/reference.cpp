#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Parameter constant{net.weight("constant", {}, uniform(0.25, 0.75), kb::constant(2))};
  Linear linear{net["linear"], s.in_features, s.out_features};
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_features}), weights<Network>(s),
                    output<real>("y", {s.batch_size, s.out_features})};
}

static Tensor reference(const Sizes&, Tensor x, const Network& n) {
  x = n.linear(x);
  x = at::min(x, *n.constant);
  return x - *n.constant;
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-MatMul", tensors, reference,
      {.smoke = {.batch_size = 16, .in_features = 256, .out_features = 192},
       .odd = {.batch_size = 7, .in_features = 131, .out_features = 109}});
}
