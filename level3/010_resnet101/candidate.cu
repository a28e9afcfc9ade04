#include "task.h"

#include <string>

#include <kb/network.cuh>

using kb::Activation;
using kb::FeatureMap;

// Leaves x intact. The first block of a layer has a convolution in its shortcut.
static FeatureMap block(const kb::Network& net, const std::string& name, FeatureMap x,
                        int64_t stride, bool first) {
  FeatureMap t = net.conv(name + ".conv1", x, {1, 0, 1, false});
  net.batch_norm(name + ".bn1", t, Activation::relu);
  t = net.conv(name + ".conv2", t, {stride, 1, 1, false});
  net.batch_norm(name + ".bn2", t, Activation::relu);
  t = net.conv(name + ".conv3", t, {1, 0, 1, false});
  if (first) {
    x = net.conv(name + ".downsample.0", x, {stride, 0, 1, false});
    net.batch_norm(name + ".downsample.1", x);
  }
  net.batch_norm(name + ".bn3", t, Activation::relu, x);
  return t;
}

void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);
  FeatureMap t =
      net.conv("conv1", net.input(x, s.batch_size, 3, s.height, s.width), {2, 3, 1, false});
  net.batch_norm("bn1", t, Activation::relu);
  t = net.max_pool(t, {3, 2, 1});
  for (int layer = 0; layer < 4; ++layer) {
    for (int64_t i = 0; i < s.layers[layer]; ++i) {
      const std::string name = "layer" + std::to_string(layer + 1) + "." + std::to_string(i);
      t = block(net, name, t, layer > 0 && i == 0 ? 2 : 1, i == 0);
    }
  }
  net.linear_to(net.output(y, s.batch_size, s.num_classes), "fc", net.mean_pool(t));
}
