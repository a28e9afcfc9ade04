#include "task.h"

#include <string>

#include <kb/network.cuh>

using kb::Activation;
using kb::FeatureMap;

// Leaves x intact.
static FeatureMap block(const kb::Network& net, const std::string& name, FeatureMap x,
                        int64_t stride) {
  const FeatureMap middle = net.conv(name + ".conv1", x, {stride, 1, 1, false});
  net.batch_norm(name + ".bn1", middle, Activation::relu);
  const FeatureMap y = net.conv(name + ".conv2", middle, {1, 1, 1, false});
  if (stride != 1) {
    x = net.conv(name + ".downsample.0", x, {stride, 0, 1, false});
    net.batch_norm(name + ".downsample.1", x);
  }
  net.batch_norm(name + ".bn2", y, Activation::relu, x);
  return y;
}

void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);
  const auto [samples, channels, height, width] = s.input_shape;
  FeatureMap t =
      net.conv("conv1", net.input(x, samples, channels, height, width), {2, 3, 1, false});
  net.batch_norm("bn1", t, Activation::relu);
  t = net.max_pool(t, {3, 2, 1});
  for (const std::string layer : {"layer1", "layer2", "layer3", "layer4"}) {
    t = block(net, layer + ".0", t, layer == "layer1" ? 1 : 2);
    t = block(net, layer + ".1", t, 1);
  }
  net.linear_to(net.output(y, samples, s.num_classes), "fc", net.mean_pool(t));
}
