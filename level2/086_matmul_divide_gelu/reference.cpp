#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Linear linear{net["linear"], s.input_size, s.output_size};
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.input_size}), weights<Network>(s),
                    output<real>("y", {s.batch_size, s.output_size})};
}

static Tensor reference(const Sizes& s, Tensor x, const Network& n) {
  x = n.linear(x);
  x = x / s.divisor;
  return at::gelu(x);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-MatMul", tensors, reference,
      {.smoke = {.batch_size = 16, .input_size = 256, .output_size = 192, .divisor = 10},
       .odd = {.batch_size = 7, .input_size = 131, .output_size = 109, .divisor = -0.7}});
}
