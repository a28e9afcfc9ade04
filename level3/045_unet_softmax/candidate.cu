#include "task.h"

#include <string>

#include <kb/network.cuh>

using kb::FeatureMap;
using kb::Moments;
using kb::real;

// Block i normalises plane i by the moments of its channel in all samples; each of its warps takes
// the softmax of some rows.
__global__ void normalise_softmax(const real* x, int64_t samples, int64_t channels, int64_t height,
                                  int64_t width, const Moments* moments, const real* weight,
                                  const real* bias, real* y, int64_t y_stride) {
  const int64_t sample = blockIdx.x / channels, channel = blockIdx.x % channels;
  const kb::OnlineMoments merge;
  Moments part = merge.identity();
  for (int64_t n = threadIdx.x; n < samples; n += blockDim.x) {
    part = merge(part, moments[n * channels + channel]);
  }
  const Moments m = kb::combine(kb::Block{}, part, merge);
  const float scale = kb::element(weight, channel) / sqrtf(m.variance() + 1e-5f);
  const float mean = m.mean, offset = kb::element(bias, channel);
  const auto normalised = [=](float v) { return (v - mean) * scale + offset; };
  x += blockIdx.x * height * width;
  y += sample * y_stride + channel * height * width;
  for (int64_t row = threadIdx.x / 32; row < height; row += blockDim.x / 32) {
    const real* from = x + row * width;
    const float max = kb::reduce(kb::Warp{}, width, kb::Max{}, normalised, from);
    const auto power = [=](float v) { return expf(normalised(v) - max); };
    const float share = 1 / kb::reduce(kb::Warp{}, width, kb::Sum{}, power, from);
    kb::map(
        kb::Warp{}, width, [=](float v) { return power(v) * share; }, y + row * width, from);
  }
}

// y = softmax over the width of the batch norm of x. y may be x, or a slice of a larger map.
static void norm_softmax(const kb::Network& net, const std::string& name, const FeatureMap& x,
                         const FeatureMap& y) {
  const auto planes = static_cast<unsigned>(x.samples * x.channels);
  if (x.size() <= 0) return;
  void* memory = nullptr;
  cudaMallocAsync(&memory, planes * sizeof(Moments), net.stream());
  const auto moments = static_cast<Moments*>(memory);
  const unsigned warps = x.height < 8 ? static_cast<unsigned>(x.height) : 8;
  kb::measure_planes<<<planes, x.area() < 2048 ? 64 : 256, 0, net.stream()>>>(
      static_cast<const real*>(x.data), x.channels, x.area(), x.sample_stride, moments);
  normalise_softmax<<<planes, 32 * warps, 0, net.stream()>>>(
      x.data, x.samples, x.channels, x.height, x.width, moments, net.weight(name + ".weight"),
      net.weight(name + ".bias"), y.data, y.sample_stride);
  cudaFreeAsync(memory, net.stream());
}

static void double_conv_to(const FeatureMap& y, const kb::Network& net, std::string name,
                           const FeatureMap& x) {
  name += ".double_conv.";
  FeatureMap t = net.conv(name + "0", x, {1, 1});
  norm_softmax(net, name + "1", t, t);
  t = net.conv(name + "3", t, {1, 1});
  norm_softmax(net, name + "4", t, y);
}

// From encoder `level` to its decoder and all that lies below. The encoder and the upconv write
// into their channels of the decoder's input: nothing is concatenated.
static FeatureMap levels(const kb::Network& net, int level, int64_t channels, const FeatureMap& x) {
  const FeatureMap y = net.make(x.samples, channels, x.height, x.width);
  if (level == 5) {
    double_conv_to(y, net, "bottleneck", x);
    return y;
  }
  const std::string number = std::to_string(level);
  const FeatureMap both = net.make(x.samples, 2 * channels, x.height, x.width);
  const FeatureMap encoded = both.slice(channels, channels);
  double_conv_to(encoded, net, "encoder" + number, x);
  const FeatureMap below = levels(net, level + 1, 2 * channels, net.max_pool(encoded, {2, 2}));
  net.conv_transposed_to(both.slice(0, channels), "upconv" + number, below, {2});
  double_conv_to(y, net, "decoder" + number, both);
  return y;
}

void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);
  const FeatureMap t =
      levels(net, 1, s.features, net.input(x, s.batch_size, s.in_channels, s.height, s.width));
  net.conv_to(net.output(y, s.batch_size, s.out_channels, s.height, s.width), "final_conv", t);
}
