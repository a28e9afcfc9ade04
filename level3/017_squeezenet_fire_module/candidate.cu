#include "task.h"

#include <kb/network.cuh>

using kb::Activation;
using kb::FeatureMap;

void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);
  const FeatureMap image = net.input(x, s.batch_size, s.num_input_features, s.height, s.width);
  const FeatureMap t = net.conv("squeeze", image, {}, Activation::relu);
  const FeatureMap all =
      net.output(y, s.batch_size, s.expand1x1_channels + s.expand3x3_channels, s.height, s.width);
  net.conv_to(all.slice(0, s.expand1x1_channels), "expand1x1", t, {}, Activation::relu);
  net.conv_to(all.slice(s.expand1x1_channels, s.expand3x3_channels), "expand3x3", t, {1, 1},
              Activation::relu);
}
