#include "task.h"

#include <string>

#include <kb/network.cuh>

using kb::Activation;
using kb::FeatureMap;

void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);
  FeatureMap t = net.input(x, s.batch_size, s.input_channels, s.image_height, s.image_width);
  for (size_t i = 0; i < s.block_widths.size(); ++i) {
    const std::string stage = "feature_extractor." + std::to_string(i);
    t = net.conv(stage + ".0", t, {1, 1});
    net.batch_norm(stage + ".1", t, Activation::relu);
    t = net.conv(stage + ".3", t, {1, 1});
    net.batch_norm(stage + ".4", t, Activation::relu);
    t = net.max_pool(t, {2, 2});
  }
  net.linear_to(net.output(y, s.batch_size, s.output_classes), "fc", net.mean_pool(t));
}
