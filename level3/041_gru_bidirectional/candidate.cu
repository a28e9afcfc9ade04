#include "task.h"

#include <string>
#include <vector>

#include <kb/recurrent.cuh>

void task::launch(const Sizes& s, const real* x, const real* h0, const kb::Weights& weights,
                  real* y, cudaStream_t stream) {
  std::vector<kb::RecurrentWeights<real>> all;
  for (int64_t layer = 0; layer < s.num_layers; ++layer) {
    for (const std::string direction : {"", "_reverse"}) {
      const std::string name = "_l" + std::to_string(layer) + direction;
      const auto weight = [&](const char* kind) {
        return weights[("gru." + (kind + name)).c_str()];
      };
      all.push_back(
          {weight("weight_ih"), weight("weight_hh"), weight("bias_ih"), weight("bias_hh")});
    }
  }
  const kb::RecurrentShape shape = {s.seq_len,     s.batch_size, s.input_size,
                                    s.hidden_size, s.num_layers, 2};
  kb::launch_recurrent<kb::Cell::gru, real>(stream, shape, all, x, h0, nullptr, y, nullptr,
                                            nullptr);
}
