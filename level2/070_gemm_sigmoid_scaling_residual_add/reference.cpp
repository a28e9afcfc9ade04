#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Linear gemm{net["gemm"], s.input_size, s.hidden_size};
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.input_size}), weights<Network>(s),
                    output<real>("y", {s.batch_size, s.hidden_size})};
}

static Tensor reference(const Sizes& s, Tensor x, const Network& n) {
  x = n.gemm(x);
  const Tensor original = x;
  x = at::sigmoid(x);
  x = x * s.scaling_factor;
  return x + original;
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-MatMul", tensors, reference,
      {.smoke = {.batch_size = 16, .input_size = 256, .hidden_size = 192, .scaling_factor = 2},
       .odd = {.batch_size = 7, .input_size = 131, .hidden_size = 109, .scaling_factor = -0.35}});
}
