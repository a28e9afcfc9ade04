// DenseNet: launch() of its tasks. Included after task.h.
#pragma once

#include <string>

#include <kb/network.cuh>

using kb::Activation;
using kb::FeatureMap;

// x = concat of x and its layers. Layers write next to what they read.
static FeatureMap dense_block(const kb::Network& net, const std::string& name, const FeatureMap& x,
                              int64_t layers, int64_t growth) {
  const FeatureMap all = net.make(x.samples, x.channels + layers * growth, x.height, x.width);
  const size_t row = x.sample_stride * sizeof(kb::real);
  cudaMemcpy2DAsync(all.data, all.sample_stride * sizeof(kb::real), x.data, row, row, x.samples,
                    cudaMemcpyDeviceToDevice, net.stream());
  for (int64_t i = 0; i < layers; ++i) {
    const std::string layer = name + ".layers." + std::to_string(i);
    const int64_t in = x.channels + i * growth;
    const FeatureMap normalised = net.make(x.samples, in, x.height, x.width);
    net.batch_norm_to(normalised, layer + ".0", all.slice(0, in), Activation::relu);
    net.conv_to(all.slice(in, growth), layer + ".2", normalised, {1, 1, 1, false});
  }
  return all;
}

void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);
  FeatureMap t =
      net.conv("features.0", net.input(x, s.batch_size, 3, s.height, s.width), {2, 3, 1, false});
  net.batch_norm("features.1", t, Activation::relu);
  t = net.max_pool(t, {3, 2, 1});
  for (int i = 0; i < 4; ++i) {
    const std::string number = std::to_string(i);
    t = dense_block(net, "dense_blocks." + number, t, s.block_layers[i],
                    s.growth_rate / s.width_div);
    if (i == 3) break;
    // A convolution of 1x1 and the mean of windows commute: the mean comes first, so that the
    // convolution has a quarter of the work.
    const std::string transition = "transition_layers." + number + ".transition";
    net.batch_norm(transition + ".0", t, Activation::relu);
    t = net.conv(transition + ".2", net.avg_pool(t, {2, 2}), {1, 0, 1, false});
  }
  net.batch_norm("final_bn", t, Activation::relu);
  net.linear_to(net.output(y, s.batch_size, s.num_classes), "classifier", net.mean_pool(t));
}
