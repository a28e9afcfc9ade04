#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Linear linear1{net["linear1"], s.input_size, s.hidden_size};
  // Larger than a layer's by default: logsumexp would hardly depend on x.
  Parameter weight2{net.weight("linear2.weight", {s.output_size, s.hidden_size},
                               normal(0, 4 / std::sqrt(s.hidden_size)),
                               fan_in_uniform(s.hidden_size))};
  Parameter bias2{
      net.weight("linear2.bias", {s.output_size}, normal(0, 0.5), fan_in_uniform(s.hidden_size))};
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.input_size}), weights<Network>(s),
                    output<real>("y", {s.batch_size})};
}

static Tensor reference(const Sizes&, Tensor x, const Network& n) {
  x = n.linear1(x);
  x = at::sigmoid(x);
  x = at::linear(x, n.weight2, *n.bias2);
  return at::logsumexp(x, 1);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-MatMul", tensors, reference,
      {.smoke = {.batch_size = 32, .input_size = 96, .hidden_size = 128, .output_size = 64},
       .odd = {.batch_size = 19, .input_size = 75, .hidden_size = 101, .output_size = 37}});
}
