#include "task.h"

#include <string>

#include <kb/network.cuh>

using kb::Activation;
using kb::FeatureMap;

// The branches write into their channels of the result: nothing is concatenated.
static FeatureMap fire(const kb::Network& net, const std::string& name, const FeatureMap& x) {
  const FeatureMap t = net.conv(name + ".squeeze", x, {}, Activation::relu);
  const int64_t out = net.find(name + ".expand1x1.weight").shape[0];
  const FeatureMap all = net.make(x.samples, 2 * out, x.height, x.width);
  net.conv_to(all.slice(0, out), name + ".expand1x1", t, {}, Activation::relu);
  net.conv_to(all.slice(out, out), name + ".expand3x3", t, {1, 1}, Activation::relu);
  return all;
}

void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);
  const kb::Pool pool = {3, 2, 0, true};
  FeatureMap t = net.conv("features.0", net.input(x, s.batch_size, 3, s.height, s.width), {2},
                          Activation::relu);
  t = net.max_pool(t, pool);
  for (int layer = 3; layer <= 12; ++layer) {
    if (layer == 6 || layer == 11) {
      t = net.max_pool(t, pool);
    } else {
      t = fire(net, "features." + std::to_string(layer), t);
    }
  }
  t = net.conv("classifier.1", t, {}, Activation::relu);
  kb::average_planes<<<t.samples * t.channels, 256, 0, stream>>>(t.data, t.channels, t.area(),
                                                                 t.sample_stride, y);
}
