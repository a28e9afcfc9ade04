#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Layer {
  Scope net;
  int64_t dim, heads, hidden;
  MultiheadAttention self_attn{net["self_attn"], dim, heads, {.need_weights = false}};
  Linear linear1{net["linear1"], dim, hidden}, linear2{net["linear2"], hidden, dim};
  LayerNorm norm1{net["norm1"], {dim}}, norm2{net["norm2"], {dim}};
  Tensor operator()(Tensor x) const {
    x = norm1(x + self_attn(x, x, x));
    return norm2(x + linear2(at::relu(linear1(x))));
  }
};

struct Network {
  Scope net;
  Sizes s;
  int64_t p = s.patch_size, side = s.image_size / p, patch = s.channels * p * p;
  Parameter pos_embedding =
      net.weight("pos_embedding", {1, side* side + 1, s.dim}, normal(), normal());
  Parameter cls_token = net.weight("cls_token", {1, 1, s.dim}, normal(), normal());
  Linear patch_to_embedding{net["patch_to_embedding"], patch, s.dim};
  std::vector<Layer> layers =
      repeat<Layer>(net["transformer"]["layers"], s.depth, s.dim, s.heads, s.mlp_dim);
  Linear hidden{net["mlp_head"][0], s.dim, s.mlp_dim};
  Linear classes{net["mlp_head"][3], s.mlp_dim, s.num_classes};
  Tensor operator()(Tensor x) const {
    const int64_t n = x.size(0);
    x = x.unfold(2, p, p).unfold(3, p, p).reshape({n, -1, patch});
    x = at::cat({cls_token->expand({n, -1, -1}), patch_to_embedding(x)}, 1);
    x += pos_embedding;
    for (const Layer& layer : layers) x = layer(x);
    return classes(at::gelu(hidden(x.select(1, 0))));
  }
};

static auto tensors(const Sizes& s) {
  TORCH_CHECK(s.image_size % s.patch_size == 0, "patch_size must divide image_size");
  TORCH_CHECK(s.dim % s.heads == 0, "heads must divide dim");
  return std::tuple{input<real>("x", {s.batch_size, s.channels, s.image_size, s.image_size}),
                    weights<Network>(s), output<real>("y", {s.batch_size, s.num_classes})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& net) { return net(x); }

// One row of one sample, of which attention is a linear layer: of in_proj, only values count.
static LeastWork least(const Sizes& s) {
  const int64_t of_layer = 2 * s.dim * s.dim + 2 * s.dim * s.mlp_dim;
  const int64_t matrices = s.depth * of_layer + s.mlp_dim * (s.dim + s.num_classes);
  const int64_t vectors = 2 * s.dim + s.depth * (7 * s.dim + s.mlp_dim) + s.mlp_dim + s.num_classes;
  const int64_t elements = matrices + vectors + s.batch_size * s.num_classes;
  return {.bytes = static_cast<double>(elements) * c10::elementSize(dtype_of<real>),
          .flops = 2 * static_cast<double>(matrices)};
}

Task kb::task() {
  auto task = define<decltype(launch)>("Arch-Transformer", tensors, reference,
                                       {.smoke = {.batch_size = 2,
                                                  .image_size = 32,
                                                  .patch_size = 8,
                                                  .num_classes = 10,
                                                  .dim = 32,
                                                  .depth = 2,
                                                  .heads = 4,
                                                  .mlp_dim = 64,
                                                  .channels = 3},
                                        .odd = {.batch_size = 3,
                                                .image_size = 21,
                                                .patch_size = 7,
                                                .num_classes = 11,
                                                .dim = 45,
                                                .depth = 3,
                                                .heads = 5,
                                                .mlp_dim = 37,
                                                .channels = 2}});
  task.degenerate =
      "the layers attend over the batch, where all class tokens are the same, so that no image "
      "reaches the result and all its rows are equal";
  return std::move(task).needing(least);
}
