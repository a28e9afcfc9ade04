#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  GRU gru{net["gru"], s.input_size, s.hidden_size, {.layers = s.num_layers}};
};

static auto tensors(const Sizes& s) {
  const Shape state = {s.num_layers, s.batch_size, s.hidden_size};
  return std::tuple{input<real>("x", {s.seq_len, s.batch_size, s.input_size}).with(normal()),
                    input<real>("h0", state).with(normal()), weights<Network>(s),
                    output<real>("y", {s.seq_len, s.batch_size, s.hidden_size})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Tensor& h0, const Network& net) {
  return std::get<0>(net.gru(x, h0));
}

Task kb::task() {
  return define<decltype(launch)>(
      "Arch-Recurrent", tensors, reference,
      {.smoke =
           {.batch_size = 2, .seq_len = 8, .input_size = 12, .hidden_size = 16, .num_layers = 3},
       .odd = {
           .batch_size = 3, .seq_len = 13, .input_size = 7, .hidden_size = 19, .num_layers = 2}});
}
