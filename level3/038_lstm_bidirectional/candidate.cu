#include "task.h"

#include <string>
#include <vector>

#include <kb/network.cuh>
#include <kb/recurrent.cuh>

void task::launch(const Sizes& s, const real* x, const real* h0, const real* c0,
                  const kb::Weights& weights, real* out, cudaStream_t stream) {
  std::vector<kb::RecurrentWeights<real>> all;
  for (int64_t layer = 0; layer < s.num_layers; ++layer) {
    for (const std::string direction : {"", "_reverse"}) {
      const std::string name = "_l" + std::to_string(layer) + direction;
      const auto weight = [&](const char* kind) {
        return weights[("lstm." + (kind + name)).c_str()];
      };
      all.push_back(
          {weight("weight_ih"), weight("weight_hh"), weight("bias_ih"), weight("bias_hh")});
    }
  }
  const kb::RecurrentShape shape = {
      s.sequence_length, s.batch_size, s.input_size, s.hidden_size, s.num_layers, 2, true};
  // The last step of both directions stands together in the sequence.
  const kb::Network net(weights, stream);
  const kb::FeatureMap sequence = net.make(s.sequence_length * s.batch_size, 2 * s.hidden_size);
  kb::launch_recurrent<kb::Cell::lstm, real>(stream, shape, all, x, h0, c0, sequence.data, nullptr,
                                             nullptr);
  const int64_t last = (s.sequence_length - 1) * s.batch_size * 2 * s.hidden_size;
  net.linear_to(net.output(out, s.batch_size, s.output_size), "fc",
                net.input(sequence.data + last, s.batch_size, 2 * s.hidden_size));
}
