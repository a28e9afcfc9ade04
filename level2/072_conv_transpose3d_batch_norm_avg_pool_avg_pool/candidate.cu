#include "task.h"

#include <kb/conv.cuh>
#include <kb/map.cuh>
#include <kb/moments.cuh>

constexpr int side = 4;  // of the windows of both poolings together

// One block per volume of z: measures all of it and puts the means of its windows into y. Each
// thread takes some windows and the rests at the edges, which y leaves out.
__global__ void __launch_bounds__(512, 2)
    measure(const kb::real* z, kb::Moments* parts, kb::real* y, kb::Box in, kb::Box out) {
  z += blockIdx.x * in.depth * in.height * in.width;
  y += blockIdx.x * out.depth * out.height * out.width;
  const auto across = static_cast<unsigned>((in.width + side - 1) / side);
  const auto down = static_cast<unsigned>((in.height + side - 1) / side);
  const auto windows = static_cast<unsigned>((in.depth + side - 1) / side) * down * across;
  const kb::OnlineMoments merge;
  kb::Moments m = merge.identity();
  for (unsigned i = threadIdx.x; i < windows; i += blockDim.x) {
    const int64_t od = i / across / down, oh = i / across % down, ow = i % across;
    kb::Moments of_window = merge.identity();
    for (int64_t d = od * side; d < od * side + side && d < in.depth; ++d) {
      for (int64_t h = oh * side; h < oh * side + side && h < in.height; ++h) {
        const kb::real* row = z + (d * in.height + h) * in.width;
        if (ow * side + side <= in.width) {
          float values[side];
          for (int w = 0; w < side; ++w) values[w] = static_cast<float>(row[ow * side + w]);
          of_window = merge(of_window, merge.of(values, 0));
          continue;
        }
        for (int64_t w = ow * side; w < in.width; ++w) {
          of_window = kb::append(merge, of_window, static_cast<float>(row[w]), w);
        }
      }
    }
    if (od < out.depth && oh < out.height && ow < out.width) {
      y[(od * out.height + oh) * out.width + ow] = static_cast<kb::real>(of_window.mean);
    }
    m = merge(m, of_window);
  }
  m = kb::combine(kb::Block{}, m, merge);
  if (threadIdx.x == 0) parts[blockIdx.x] = m;
}

// The same blocks normalise the means, which are those of normalised elements then; n in each.
__global__ void normalise(kb::real* y, const kb::real* weight, const kb::real* bias,
                          const kb::Moments* parts, int64_t samples, int64_t channels, int64_t n) {
  const int64_t channel = blockIdx.x % channels;
  const kb::OnlineMoments merge;
  kb::Moments m = merge.identity();
  for (int64_t sample = threadIdx.x; sample < samples; sample += blockDim.x) {
    m = merge(m, parts[sample * channels + channel]);
  }
  m = kb::combine(kb::Block{}, m, merge);
  const float scale = static_cast<float>(weight[channel]) / sqrtf(m.variance() + 1e-5f);
  const float offset = static_cast<float>(bias[channel]);
  y += blockIdx.x * n;
  kb::map(
      kb::Block{}, n, [=](float v) { return (v - m.mean) * scale + offset; }, y, y);
}

// The normalisation takes away what is added to a whole channel: conv_bias.
void task::launch(const Sizes& s, const real* x, const real* conv_weight, const real*,
                  const real* norm_weight, const real* norm_bias, real* y, cudaStream_t stream) {
  const auto shape = kb::conv_transposed_shape<3>(s.batch_size, s.in_channels, s.out_channels,
                                                  {s.depth, s.height, s.width}, s.kernel_size,
                                                  s.stride, s.padding);
  const int64_t volumes = s.batch_size * s.out_channels;
  void* memory;
  cudaMallocAsync(&memory,
                  sizeof(kb::Moments) * volumes + sizeof(real) * volumes * shape.out.product(),
                  stream);
  const auto parts = static_cast<kb::Moments*>(memory);
  const auto z = reinterpret_cast<real*>(parts + volumes);
  kb::launch_conv_transposed(stream, shape, x, conv_weight, kb::AsIs{}, z);
  const kb::Box in = {shape.out[0], shape.out[1], shape.out[2]};
  const kb::Box out = {s.pooled(s.depth), s.pooled(s.height), s.pooled(s.width)};
  measure<<<volumes, 512, 0, stream>>>(z, parts, y, in, out);
  normalise<<<volumes, 256, 0, stream>>>(y, norm_weight, norm_bias, parts, s.batch_size,
                                         s.out_channels, out.depth * out.height * out.width);
  cudaFreeAsync(memory, stream);
}
