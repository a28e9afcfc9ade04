#include "task.h"

#include <string>
#include <vector>

#include <kb/recurrent.cuh>

void task::launch(const Sizes& s, const real* x, const real* h0, const real* c0,
                  const kb::Weights& weights, real* c_n, cudaStream_t stream) {
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
  kb::launch_recurrent<kb::Cell::lstm, real>(stream, shape, all, x, h0, c0, nullptr, nullptr, c_n);
}
