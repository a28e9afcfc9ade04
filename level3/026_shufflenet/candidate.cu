#include "task.h"

#include "../architectures/shufflenet.cuh"

void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);

  FeatureMap t = net.input(x, s.batch_size, s.input_channels, s.height, s.width);
  t = net.conv("conv1", t, {2, 1, 1, false});
  net.batch_norm("bn1", t, Activation::relu);
  t = net.max_pool(t, {3, 2, 1});
  for (int stage = 0; stage < 3; ++stage) {
    for (int64_t i = 0; i < s.stages_repeats[stage]; ++i) {
      const std::string name = "stage" + std::to_string(stage + 2) + "." + std::to_string(i) + ".";
      t = unit(net, name, t, s.groups,
               net.make(t.samples, s.stages_out_channels[stage + 1], t.height, t.width));
    }
  }
  t = net.conv("conv5", t, {1, 0, 1, false});
  net.batch_norm("bn5", t, Activation::relu);
  net.linear_to(net.output(y, s.batch_size, s.num_classes), "fc", net.mean_pool(t));
}
