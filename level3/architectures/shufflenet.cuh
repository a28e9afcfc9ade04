// ShuffleNet: what its tasks share. Included after task.h.
#pragma once

#include <string>

#include <kb/network.cuh>

using kb::Activation;
using kb::FeatureMap;

// Channel p * groups + g of y is channel g * (channels / groups) + p of x. One block per plane of
// y.
__global__ void shuffle(const kb::real* x, int64_t channels, int64_t groups, int64_t area,
                        kb::real* y) {
  const int64_t sample = blockIdx.x / channels, channel = blockIdx.x % channels;
  const int64_t from = channel % groups * (channels / groups) + channel / groups;
  kb::map(kb::Block{}, area, kb::Same{}, y + blockIdx.x * area,
          x + (sample * channels + from) * area);
}

static FeatureMap unit(const kb::Network& net, const std::string& name, const FeatureMap& x,
                       int64_t groups, const FeatureMap& y) {
  FeatureMap t = net.conv(name + "conv1", x, {1, 0, groups, false});
  net.batch_norm(name + "bn1", t, Activation::relu);
  t = net.depthwise(name + "conv2", t, {1, 1, 1, false});
  net.batch_norm(name + "bn2", t);
  const FeatureMap shuffled = net.make(t.samples, t.channels, t.height, t.width);
  shuffle<<<t.samples * t.channels, 256, 0, net.stream()>>>(t.data, t.channels, groups, t.area(),
                                                            shuffled.data);
  FeatureMap shortcut = x;
  if (x.channels != y.channels) {
    shortcut = net.conv(name + "shortcut.0", x, {1, 0, 1, false});
    net.batch_norm(name + "shortcut.1", shortcut);
  }
  net.conv_to(y, name + "conv3", shuffled, {1, 0, groups, false});
  net.batch_norm(name + "bn3", y, Activation::relu);
  net.add(y, shortcut);
  return y;
}
