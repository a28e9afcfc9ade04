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
                    output<real>("y", {s.batch_size, 1})};
}

static Tensor reference(const Sizes&, Tensor x, const Network& n) {
  x = n.gemm(x);
  x = std::get<0>(at::max(x, 1, /*keepdim=*/true));
  x = x - at::mean(x, 1, /*keepdim=*/true);
  return at::gelu(x);
}

Task kb::task() {
  Task task = define<decltype(launch)>(
      "Fusion-MatMul", tensors, reference,
      {.smoke = {.batch_size = 16, .in_features = 256, .out_features = 192},
       .odd = {.batch_size = 7, .in_features = 131, .out_features = 109}});
  task.degenerate = "a maximum less the mean of that one maximum is zero whatever the inputs are";
  return task;
}
