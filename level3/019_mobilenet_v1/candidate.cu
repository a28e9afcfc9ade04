#include "task.h"

#include <string>

#include <kb/network.cuh>

using kb::Activation;
using kb::FeatureMap;
void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);

  FeatureMap t = net.input(x, s.batch_size, s.input_channels, s.height, s.width);
  t = net.conv("model.0.0", t, {2, 1, 1, false});
  net.batch_norm("model.0.1", t, Activation::relu);
  for (int i = 1; i <= 13; ++i) {
    const std::string layer = "model." + std::to_string(i);
    const int64_t stride = i == 2 || i == 4 || i == 6 || i == 12 ? 2 : 1;
    t = net.depthwise(layer + ".0", t, {stride, 1, 1, false});
    net.batch_norm(layer + ".1", t, Activation::relu);
    t = net.conv(layer + ".3", t, {1, 0, 1, false});
    net.batch_norm(layer + ".4", t, Activation::relu);
  }
  net.linear_to(net.output(y, s.batch_size, s.num_classes), "fc", net.avg_pool(t, {7, 7}).flat());
}
