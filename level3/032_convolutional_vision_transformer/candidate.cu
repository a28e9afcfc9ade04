#include "task.h"

#include <string>

#include <kb/attention.cuh>
#include <kb/network.cuh>

using kb::Activation;
using kb::FeatureMap;

// The two tokens of a sample stand next to each other.
__global__ void with_class_token(const kb::real* token, const kb::real* images, int64_t samples,
                                 int64_t embed, kb::real* rows) {
  const int64_t i = kb::Grid::rank(), row = i / embed, column = i % embed;
  if (row >= 2 * samples) return;
  rows[i] = row % 2 == 0 ? token[column] : images[row / 2 * embed + column];
}

void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);
  const int64_t embed = s.embed_dim, rows = 2 * s.batch_size;
  const FeatureMap image = net.input(x, s.batch_size, s.in_channels, s.image_size, s.image_size);
  const FeatureMap patches = net.conv("conv1", image, {s.patch_size});
  const FeatureMap projected = net.linear("linear_proj", patches.flat());
  FeatureMap t = net.make(rows, embed);
  with_class_token<<<(rows * embed + 255) / 256, 256, 0, stream>>>(
      net.weight("cls_token"), projected.data, s.batch_size, embed, t.data);
  const FeatureMap a = net.make(rows, embed);
  for (int64_t i = 0; i < s.num_layers; ++i) {
    const std::string layer = "transformer_layers." + std::to_string(i) + ".";
    const FeatureMap qkv =
        net.linear_of(layer + "self_attn.in_proj_weight", layer + "self_attn.in_proj_bias", t);
    kb::launch_attention_of_few<real>(stream, s.batch_size, 2, s.num_heads, embed / s.num_heads,
                                      qkv.data, a.data);
    t = net.layer_norm(layer + "norm1",
                       net.linear(layer + "self_attn.out_proj", a, Activation::none, t));
    const FeatureMap wide = net.linear(layer + "linear1", t, Activation::relu);
    t = net.layer_norm(layer + "norm2", net.linear(layer + "linear2", wide, Activation::none, t));
  }
  FeatureMap first = t;
  first.samples = s.batch_size;
  first.sample_stride = 2 * embed;
  net.linear_to(net.output(y, s.batch_size, s.num_classes), "fc_out", first);
}
