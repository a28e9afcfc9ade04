#include "task.h"

#include <string>

#include <kb/network.cuh>

using kb::Activation;
using kb::FeatureMap;
void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);

  FeatureMap t =
      net.conv("conv1", net.input(x, s.batch_size, 3, s.height, s.width), {2, 1, 1, false});
  net.batch_norm("bn1", t, Activation::relu);
  for (int i = 1; i <= 5; ++i) {
    const std::string block = "mbconv" + std::to_string(i);
    t = net.conv(block + ".0", t, {1, 0, 1, false});
    net.batch_norm(block + ".1", t, Activation::relu);
    t = net.depthwise(block + ".3", t, {i == 1 || i == 5 ? 1 : 2, 1, 1, false});
    net.batch_norm(block + ".4", t, Activation::relu);
    // One pixel is left: convolutions of 1x1 are linear layers.
    t = net.linear(block + ".7", net.mean_pool(t), Activation::relu, {}, false);
    t = net.linear(block + ".9", t, Activation::sigmoid, {}, false);
    t = net.linear(block + ".11", t, Activation::none, {}, false);
    net.batch_norm(block + ".12", t);
  }
  t = net.linear("conv_final", t, Activation::none, {}, false);
  net.batch_norm("bn_final", t, Activation::relu);
  net.linear_to(net.output(y, s.batch_size, s.num_classes), "fc", t);
}
