#include "task.h"

#include <kb/attention.cuh>
#include <kb/network.cuh>

using kb::FeatureMap;

// Adds x, whose pixels are columns.
struct AddBiasAndImage {
  const kb::real *bias, *x;
  int64_t embed, pixels;
  __device__ float operator()(float v, int64_t sample, int64_t pixel, int64_t channel) const {
    return v + kb::element(bias, channel) +
           kb::element(x, (sample * embed + channel) * pixels + pixel);
  }
};

// y[sample, channel, pixel] = x[sample, pixel, channel], in tiles of 32 x 32.
__global__ void to_images(const kb::real* x, int64_t embed, int64_t pixels, kb::real* y) {
  __shared__ float tile[32][33];
  const int64_t pixel0 = int64_t{blockIdx.x} * 32, channel0 = int64_t{blockIdx.y} * 32;
  x += blockIdx.z * embed * pixels;
  y += blockIdx.z * embed * pixels;
  for (int64_t i = threadIdx.y; i < 32; i += blockDim.y) {
    const int64_t pixel = pixel0 + i, channel = channel0 + threadIdx.x;
    if (pixel < pixels && channel < embed)
      tile[i][threadIdx.x] = kb::element(x, pixel * embed + channel);
  }
  __syncthreads();
  for (int64_t i = threadIdx.y; i < 32; i += blockDim.y) {
    const int64_t pixel = pixel0 + threadIdx.x, channel = channel0 + i;
    if (pixel < pixels && channel < embed)
      y[channel * pixels + pixel] = static_cast<kb::real>(tile[threadIdx.x][i]);
  }
}

void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);

  const int64_t pixels = s.image_height * s.image_width, embed = s.embed_dim,
                rows = s.batch_size * pixels;
  const kb::ProductShape in = {pixels, 3 * embed, embed, s.batch_size},
                         out = {pixels, embed, embed, s.batch_size};
  const FeatureMap qkv = net.make(rows, 3 * embed), a = net.make(rows, embed),
                   t = net.make(rows, embed);
  kb::launch_product(stream, in, kb::left_transposed(x, in),
                     kb::right_transposed(net.weight("attn.in_proj_weight"), in, embed),
                     kb::store(qkv.data, in, kb::AddColumnBias{net.weight("attn.in_proj_bias")}));
  const kb::AttentionShape shape = {s.num_heads,         pixels,    pixels,
                                    embed / s.num_heads, 3 * embed, embed};
  const real* const q = qkv.data;
  kb::launch_attention(stream, s.batch_size, shape, kb::SeesAll{}, q, q + embed, q + 2 * embed,
                       a.data);
  const real* const heads = a.data;
  kb::launch_product(
      stream, out, kb::left(heads, out),
      kb::right_transposed(net.weight("attn.out_proj.weight"), out, embed),
      kb::store(t.data, out, AddBiasAndImage{net.weight("attn.out_proj.bias"), x, embed, pixels}));
  const FeatureMap normalised = net.layer_norm("norm", t);
  const dim3 tiles((pixels + 31) / 32, (embed + 31) / 32, s.batch_size);
  to_images<<<tiles, dim3(32, 8), 0, stream>>>(normalised.data, embed, pixels, y);
}
