#include "task.h"

#include <string>

#include <kb/network.cuh>

using kb::Activation;
using kb::FeatureMap;

static FeatureMap block(const kb::Network& net, const std::string& name, FeatureMap t,
                        int64_t stride, bool expands) {
  const auto layer = [&](int number) {
    return name + "." + std::to_string(expands ? number : number - 3);
  };
  if (expands) {
    t = net.conv(layer(0), t, {1, 0, 1, false});
    net.batch_norm(layer(1), t, Activation::relu6);
  }
  t = net.depthwise(layer(3), t, {stride, 1, 1, false});
  net.batch_norm(layer(4), t, Activation::relu6);
  t = net.conv(layer(6), t, {1, 0, 1, false});
  net.batch_norm(layer(7), t);
  return t;
}

void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);

  FeatureMap t =
      net.conv("features.0", net.input(x, s.batch_size, 3, s.height, s.width), {2, 1, 1, false});
  net.batch_norm("features.1", t, Activation::relu6);
  for (int i = 3; i <= 19; ++i) {
    const int64_t stride = i == 4 || i == 6 || i == 9 || i == 16 ? 2 : 1;
    t = block(net, "features." + std::to_string(i), t, stride, i != 3);
  }
  t = net.conv("features.20", t, {1, 0, 1, false});
  net.batch_norm("features.21", t, Activation::relu6);
  net.linear_to(net.output(y, s.batch_size, s.num_classes), "classifier.1", net.mean_pool(t));
}
