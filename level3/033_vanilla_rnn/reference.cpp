#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Parameter state = net.attribute({s.batch_size, s.hidden_size}, dtype_of<real>, constant(0));
  Linear i2h{net["i2h"], s.input_size + s.hidden_size, s.hidden_size};
  Linear h2o{net["h2o"], s.hidden_size, s.output_size};
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.input_size}),
                    input<real>("hidden", {s.batch_size, s.hidden_size}), weights<Network>(s),
                    output<real>("output", {s.batch_size, s.output_size})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Tensor& hidden, const Network& n) {
  n.state->copy_(hidden);
  return n.h2o(at::tanh(n.i2h(at::cat({x, *n.state}, 1))));
}

Task kb::task() {
  return define<decltype(launch)>(
      "Arch-Recurrent", tensors, reference,
      {.smoke = {.batch_size = 4, .input_size = 64, .hidden_size = 64, .output_size = 32},
       .odd = {.batch_size = 3, .input_size = 37, .hidden_size = 53, .output_size = 19}});
}
