#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Parameter add_value{net.weight("add_value", {s.out_features}, normal(), normal())};
  Linear matmul{net["matmul"], s.in_features, s.out_features};
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_features}), weights<Network>(s),
                    output<real>("y", {s.batch_size, s.out_features})};
}

static Tensor reference(const Sizes&, Tensor x, const Network& n) {
  x = n.matmul(x);
  x = x + n.add_value;
  x = at::sigmoid(x) * x;
  x = at::tanh(x);
  x = at::gelu(x);
  return at::hardtanh(x, -1, 1);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-MatMul", tensors, reference,
      {.smoke = {.batch_size = 16, .in_features = 256, .out_features = 192},
       .odd = {.batch_size = 7, .in_features = 131, .out_features = 109}});
}
