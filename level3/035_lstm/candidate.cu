#include "task.h"

#include <string>
#include <vector>

#include <kb/network.cuh>
#include <kb/recurrent.cuh>

void task::launch(const Sizes& s, const real* x, const real* h0, const real* c0,
                  const kb::Weights& weights, real* out, cudaStream_t stream) {
  std::vector<kb::RecurrentWeights<real>> all;
  for (int64_t layer = 0; layer < s.num_layers; ++layer) {
    const std::string name = "_l" + std::to_string(layer);
    const auto weight = [&](const char* kind) {
      return weights[("lstm." + (kind + name)).c_str()];
    };
    all.push_back({weight("weight_ih"), weight("weight_hh"), weight("bias_ih"), weight("bias_hh")});
  }
  const kb::RecurrentShape shape = {
      s.sequence_length, s.batch_size, s.input_size, s.hidden_size, s.num_layers, 1, true};
  const kb::Network net(weights, stream);
  const kb::FeatureMap states = net.make(s.num_layers * s.batch_size, s.hidden_size);
  kb::launch_recurrent<kb::Cell::lstm, real>(stream, shape, all, x, h0, c0, nullptr, states.data,
                                             nullptr);
  const real* const top = states.data + (s.num_layers - 1) * s.batch_size * s.hidden_size;
  net.linear_to(net.output(out, s.batch_size, s.output_size), "fc",
                net.input(top, s.batch_size, s.hidden_size));
}
