#include "task.h"

#include <string>

#include <kb/network.cuh>

using kb::Activation;
using kb::FeatureMap;

void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);
  FeatureMap t = net.input(x, s.batch_size, 3, 224, 224);
  int layer = 0;  // counts convolutions, relus and pools
  for (const int count : {2, 2, 3, 3, 3}) {
    for (int i = 0; i < count; ++i, layer += 2) {
      t = net.conv("features." + std::to_string(layer), t, {1, 1}, Activation::relu);
    }
    t = net.max_pool(t, {2, 2});
    ++layer;
  }
  t = net.linear("classifier.0", t.flat(), Activation::relu);
  t = net.linear("classifier.3", t, Activation::relu);
  net.linear_to(net.output(y, s.batch_size, s.num_classes), "classifier.6", t);
}
