#include "task.h"

#include <kb/network.cuh>

using kb::Activation;
using kb::FeatureMap;

// A convolution of 1x1 and the mean of windows commute: the mean of four pixels comes first, so
// that the convolution has a quarter of the work. One thread per element of `means`.
__global__ void normalise_and_average(task::Sizes s, const kb::real* x, const kb::Moments* moments,
                                      const kb::real* weight, const kb::real* bias,
                                      kb::real* means) {
  const int64_t i = kb::Grid::rank(), height = s.height / 2, width = s.width / 2;
  if (i >= s.batch_size * s.num_input_features * height * width) return;
  const int64_t plane = i / (height * width), channel = plane % s.num_input_features;
  const kb::Moments m = moments[channel];
  const float scale = kb::element(weight, channel) / sqrtf(m.variance() + 1e-5f);
  const float offset = kb::element(bias, channel);
  x += plane * s.height * s.width + i / width % height * 2 * s.width + i % width * 2;
  float sum = 0;
  for (int64_t tap = 0; tap < 4; ++tap) {
    const float v = kb::element(x, tap / 2 * s.width + tap % 2);
    sum += kb::activate(Activation::relu, (v - m.mean) * scale + offset);
  }
  means[i] = static_cast<kb::real>(sum / 4);
}

// One block per channel: its moments from those of its planes.
__global__ void merge(int64_t samples, const kb::Moments* planes, kb::Moments* moments) {
  const kb::OnlineMoments op;
  kb::Moments part = op.identity();
  for (int64_t n = threadIdx.x; n < samples; n += blockDim.x) {
    part = op(part, planes[n * gridDim.x + blockIdx.x]);
  }
  const kb::Moments m = kb::combine(kb::Block{}, part, op);
  if (threadIdx.x == 0) moments[blockIdx.x] = m;
}

void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);
  const int64_t planes = s.batch_size * s.num_input_features, area = s.height * s.width;
  void* memory = nullptr;
  cudaMallocAsync(&memory, (planes + s.num_input_features) * sizeof(kb::Moments), stream);
  const auto of_planes = static_cast<kb::Moments*>(memory), moments = of_planes + planes;
  kb::measure_planes<<<planes, 512, 0, stream>>>(x, s.num_input_features, area,
                                                 s.num_input_features * area, of_planes);
  merge<<<s.num_input_features, 32, 0, stream>>>(s.batch_size, of_planes, moments);
  const FeatureMap means = net.make(s.batch_size, s.num_input_features, s.height / 2, s.width / 2);
  normalise_and_average<<<(means.size() + 255) / 256, 256, 0, stream>>>(
      s, x, moments, net.weight("transition.0.weight"), net.weight("transition.0.bias"),
      means.data);
  cudaFreeAsync(memory, stream);
  net.conv_to(net.output(y, s.batch_size, s.num_output_features, means.height, means.width),
              "transition.2", means, {1, 0, 1, false});
}
