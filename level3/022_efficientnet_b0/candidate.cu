#include "task.h"

#include <string>

#include <kb/network.cuh>

using kb::Activation;
using kb::FeatureMap;

struct Block {
  int64_t kernel, stride;
  bool expands, residual;
};

static FeatureMap launch_block(const kb::Network& net, const std::string& name, const Block& block,
                               const FeatureMap& x) {
  FeatureMap t = x;
  if (block.expands) {
    t = net.conv(name + ".expand_conv.0", t, {1, 0, 1, false});
    net.batch_norm(name + ".expand_conv.1", t, Activation::relu6);
  }
  t = net.depthwise(name + ".depthwise_conv.0", t,
                    {block.stride, (block.kernel - 1) / 2, 1, false});
  net.batch_norm(name + ".depthwise_conv.1", t, Activation::relu6);
  t = net.conv(name + ".project_conv.0", t, {1, 0, 1, false});
  net.batch_norm(name + ".project_conv.1", t, Activation::none, block.residual ? x : FeatureMap{});
  return t;
}

void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);

  FeatureMap t =
      net.conv("conv1", net.input(x, s.batch_size, 3, s.height, s.width), {2, 1, 1, false});
  net.batch_norm("bn1", t, Activation::relu);
  int number = 0;
  for (const Block& block :
       {Block{3, 1, false, false}, Block{3, 2, true, false}, Block{3, 1, true, true},
        Block{5, 2, true, false}, Block{5, 1, true, true}, Block{3, 2, true, false},
        Block{3, 1, true, true}, Block{5, 1, true, false}, Block{5, 1, true, true},
        Block{5, 2, true, false}, Block{5, 1, true, true}, Block{5, 1, true, true},
        Block{3, 1, true, false}}) {
    t = launch_block(net, "blocks." + std::to_string(number++), block, t);
  }
  t = net.conv("conv2", t, {1, 0, 1, false});
  net.batch_norm("bn2", t, Activation::relu);
  net.linear_to(net.output(y, s.batch_size, s.num_classes), "fc", net.mean_pool(t));
}
