#include "task.h"

#include <kb/network.cuh>

using kb::Activation;
using kb::FeatureMap;
void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);

  const FeatureMap image = net.input(x, s.batch_size, s.in_channels, s.height, s.width);
  FeatureMap t = image;
  if (s.expand_ratio != 1) {
    t = net.conv("expand_conv.0", t, {1, 0, 1, false});
    net.batch_norm("expand_conv.1", t, Activation::relu6);
  }
  t = net.depthwise("depthwise_conv.0", t, {s.stride, (s.kernel_size - 1) / 2, 1, false});
  net.batch_norm("depthwise_conv.1", t, Activation::relu6);
  t = net.conv("project_conv.0", t, {1, 0, 1, false});
  const bool residual = s.stride == 1 && s.in_channels == s.out_channels;
  const FeatureMap result = net.output(y, t.samples, t.channels, t.height, t.width);
  net.batch_norm_to(result, "project_conv.1", t, Activation::none, residual ? image : FeatureMap{});
}
