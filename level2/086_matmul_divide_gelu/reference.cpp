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
  return define<decltype(launch)>("Fusion-MatMul", tensors, reference,
                                  {.smoke = {16, 256, 192, 10}, .odd = {7, 131, 109, -0.7}});
}
