#include "task.h"

#include <string>

#include <kb/network.cuh>

using kb::Activation;
using kb::FeatureMap;

// The branches write into their channels of the result: nothing is concatenated.
static FeatureMap inception(const kb::Network& net, const std::string& name, const FeatureMap& x) {
  const auto out = [&](const char* branch) { return net.find(name + branch + ".weight").shape[0]; };
  const int64_t in3x3 = out(".branch1x1"), in5x5 = in3x3 + out(".branch3x3.1");
  const int64_t in_pool = in5x5 + out(".branch5x5.1"), channels = in_pool + out(".branch_pool.1");
  const FeatureMap all = net.make(x.samples, channels, x.height, x.width);
  net.conv_to(all.slice(0, in3x3), name + ".branch1x1", x);
  net.conv_to(all.slice(in3x3, in5x5 - in3x3), name + ".branch3x3.1",
              net.conv(name + ".branch3x3.0", x), {1, 1});
  net.conv_to(all.slice(in5x5, in_pool - in5x5), name + ".branch5x5.1",
              net.conv(name + ".branch5x5.0", x), {1, 2});
  net.conv_to(all.slice(in_pool, channels - in_pool), name + ".branch_pool.1",
              net.max_pool(x, {3, 1, 1}));
  return all;
}

void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);
  const kb::Pool pool = {3, 2, 1};
  FeatureMap t =
      net.conv("conv1", net.input(x, s.batch_size, 3, s.height, s.width), {2, 3}, Activation::relu);
  t = net.conv("conv2", net.max_pool(t, pool), {}, Activation::relu);
  t = net.max_pool(net.conv("conv3", t, {1, 1}, Activation::relu), pool);
  for (const std::string module : {"3a", "3b", "4a", "4b", "4c", "4d", "4e", "5a", "5b"}) {
    if (module == "4a" || module == "5a") t = net.max_pool(t, pool);
    t = inception(net, "inception" + module, t);
  }
  net.linear_to(net.output(y, s.batch_size, s.num_classes), "fc", net.mean_pool(t));
}
