#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Linear i2h{net["i2h"], s.input_size + s.hidden_size, s.hidden_size};
  Linear h2o{net["h2o"], s.hidden_size, s.output_size};
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.sequence_length, s.batch_size, s.input_size}),
                    input<real>("h0", {s.batch_size, s.hidden_size}), weights<Network>(s),
                    output<real>("y", {s.sequence_length, s.batch_size, s.output_size})};
}

static Tensor reference(const Sizes&, const Tensor& x, Tensor hidden, const Network& n) {
  std::vector<Tensor> outputs;
  for (const Tensor& step : x.unbind(0)) {
    hidden = at::tanh(n.i2h(at::cat({step, hidden}, 1)));
    outputs.push_back(n.h2o(hidden));
  }
  return at::stack(outputs, 0);
}

Task kb::task() {
  return define<decltype(launch)>("Arch-Recurrent", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .input_size = 32,
                                             .hidden_size = 16,
                                             .output_size = 8,
                                             .sequence_length = 8},
                                   .odd = {.batch_size = 3,
                                           .input_size = 21,
                                           .hidden_size = 19,
                                           .output_size = 7,
                                           .sequence_length = 13}});
}
