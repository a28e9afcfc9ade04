#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  LSTM lstm{net["lstm"],
            s.input_size,
            s.hidden_size,
            {.layers = s.num_layers, .batch_first = true, .bidirectional = true}};
  Linear fc{net["fc"], 2 * s.hidden_size, s.output_size};
};

static auto tensors(const Sizes& s) {
  const Shape state = {2 * s.num_layers, s.batch_size, s.hidden_size};
  return std::tuple{
      input<real>("x", {s.batch_size, s.sequence_length, s.input_size}).with(normal()),
      input<real>("h0", state).with(normal()), input<real>("c0", state).with(normal()),
      weights<Network>(s), output<real>("out", {s.batch_size, s.output_size})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Tensor& h0, const Tensor& c0,
                        const Network& net) {
  return net.fc(std::get<0>(net.lstm(x, h0, c0)).select(1, -1));
}

Task kb::task() {
  return define<decltype(launch)>("Arch-Recurrent", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .sequence_length = 8,
                                             .input_size = 12,
                                             .hidden_size = 16,
                                             .num_layers = 3,
                                             .output_size = 10},
                                   .odd = {.batch_size = 3,
                                           .sequence_length = 13,
                                           .input_size = 7,
                                           .hidden_size = 19,
                                           .num_layers = 2,
                                           .output_size = 5}});
}
