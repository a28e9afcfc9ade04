#include "task.h"

#include <string>

#include <kb/network.cuh>

using kb::Activation;
using kb::FeatureMap;
using kb::real;

struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// The same row for all samples.
__global__ void repeat_row(const real* row, int64_t width, int64_t samples, real* y) {
  const int64_t i = kb::Grid::rank();
  if (i < samples * width) y[i] = row[i % width];
}

// The values of one row, which are the last third of what in_proj makes.
static FeatureMap values(const kb::Network& net, const std::string& attention,
                         const FeatureMap& t) {
  const int64_t dim = t.channels;
  const kb::ProductShape shape = {1, dim, dim};
  const FeatureMap v = net.make(1, dim);
  const real* const weight = net.weight(attention + "in_proj_weight") + 2 * dim * dim;
  const real* const bias = net.weight(attention + "in_proj_bias") + 2 * dim;
  const kb::BiasActivationResidual<real> add_bias = {bias, nullptr, dim, Activation::none};
  kb::launch_product(net.stream(), shape, kb::left(static_cast<const real*>(t.data), shape),
                     kb::right_transposed(weight, shape), kb::store(v.data, shape, add_bias));
  return v;
}

// A class token meets those of other samples only, which are equal. So softmax gives equal weights
// to equal values, whatever finite numbers the scores are, and one row stands for all samples.
void task::launch(const Sizes& s, const real*, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);
  FeatureMap t = net.make(1, s.dim);
  kb::launch_map(stream, s.dim, Add{}, t.data, net.weight("cls_token"),
                 net.weight("pos_embedding"));
  for (int64_t i = 0; i < s.depth; ++i) {
    const std::string layer = "transformer.layers." + std::to_string(i) + ".";
    const FeatureMap v = values(net, layer + "self_attn.", t);
    t = net.layer_norm(layer + "norm1",
                       net.linear(layer + "self_attn.out_proj", v, Activation::none, t));
    const FeatureMap wide = net.linear(layer + "linear1", t, Activation::relu);
    t = net.layer_norm(layer + "norm2", net.linear(layer + "linear2", wide, Activation::none, t));
  }
  const FeatureMap classes =
      net.linear("mlp_head.3", net.linear("mlp_head.0", t, Activation::gelu));
  const int64_t elements = s.batch_size * s.num_classes;
  if (elements <= 0) return;
  repeat_row<<<(elements + 255) / 256, 256, 0, stream>>>(classes.data, s.num_classes, s.batch_size,
                                                         y);
}
