#include "task.h"

#include <string>

#include <kb/network.cuh>

using kb::Activation;
using kb::FeatureMap;
void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);

  FeatureMap t = net.input(x, s.batch_size, s.input_shape[0], s.input_shape[1], s.input_shape[2]);
  t = net.conv("conv1", t, {2, 1, 1, false});
  net.batch_norm("bn1", t, Activation::relu);
  for (int i = 1; i <= 7; ++i) {
    const std::string block = "mbconv" + std::to_string(i);
    const int64_t stride = i == 1 || i == 5 || i == 7 ? 1 : 2;
    t = net.conv(block + ".0", t, {1, 0, 1, false});
    net.batch_norm(block + ".1", t, Activation::relu6);
    t = net.depthwise(block + ".3", t, {stride, 1, 1, false});
    net.batch_norm(block + ".4", t, Activation::relu6);
    t = net.conv(block + ".6", t, {1, 0, 1, false});
    net.batch_norm(block + ".7", t);
  }
  t = net.conv("conv2", t, {1, 0, 1, false});
  net.batch_norm("bn2", t, Activation::relu);
  net.linear_to(net.output(y, s.batch_size, s.num_classes), "fc", net.mean_pool(t));
}
