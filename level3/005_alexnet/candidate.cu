#include "task.h"

#include <kb/network.cuh>

using kb::Activation;
using kb::FeatureMap;

void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);
  FeatureMap t =
      net.conv("conv1", net.input(x, s.batch_size, 3, 224, 224), {4, 2}, Activation::relu);
  t = net.conv("conv2", net.max_pool(t, {3, 2}), {1, 2}, Activation::relu);
  t = net.conv("conv3", net.max_pool(t, {3, 2}), {1, 1}, Activation::relu);
  t = net.conv("conv4", t, {1, 1}, Activation::relu);
  t = net.conv("conv5", t, {1, 1}, Activation::relu);
  t = net.linear("fc1", net.max_pool(t, {3, 2}).flat(), Activation::relu);
  t = net.linear("fc2", t, Activation::relu);
  net.linear_to(net.output(y, s.batch_size, s.num_classes), "fc3", t);
}
