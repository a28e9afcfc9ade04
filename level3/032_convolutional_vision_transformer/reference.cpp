#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Layer {
  Scope net;
  int64_t embed, heads, hidden;
  MultiheadAttention self_attn{
      net["self_attn"], embed, heads, {.batch_first = true, .need_weights = false}};
  Linear linear1{net["linear1"], embed, hidden}, linear2{net["linear2"], hidden, embed};
  LayerNorm norm1{net["norm1"], {embed}}, norm2{net["norm2"], {embed}};
  Tensor operator()(Tensor x) const {
    x = norm1(x + self_attn(x, x, x));
    return norm2(x + linear2(at::relu(linear1(x))));
  }
};

struct Network {
  Scope net;
  Sizes s;
  int64_t side = s.image_size / s.patch_size;
  Parameter cls_token = net.weight("cls_token", {1, 1, s.embed_dim}, normal(), constant(0));
  Conv2d conv1{net["conv1"], s.in_channels, s.embed_dim, s.patch_size, {.stride = s.patch_size}};
  Linear linear_proj{net["linear_proj"], s.embed_dim* side* side, s.embed_dim};
  std::vector<Layer> layers = repeat<Layer>(net["transformer_layers"], s.num_layers, s.embed_dim,
                                            s.num_heads, s.embed_dim* s.mlp_ratio);
  Linear fc_out{net["fc_out"], s.embed_dim, s.num_classes};
  Tensor operator()(Tensor x) const {
    x = linear_proj(conv1(x).flatten(1));
    x = at::cat({cls_token->expand({x.size(0), -1, -1}), x.unsqueeze(1)}, 1);
    for (const Layer& layer : layers) x = layer(x);
    return fc_out(x.select(1, 0));
  }
};

static auto tensors(const Sizes& s) {
  TORCH_CHECK(s.embed_dim % s.num_heads == 0, "num_heads must divide embed_dim");
  return std::tuple{input<real>("x", {s.batch_size, s.in_channels, s.image_size, s.image_size}),
                    weights<Network>(s), output<real>("y", {s.batch_size, s.num_classes})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& net) { return net(x); }

Task kb::task() {
  return define<decltype(launch)>("Arch-Transformer", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .image_size = 32,
                                             .embed_dim = 32,
                                             .in_channels = 3,
                                             .num_heads = 4,
                                             .num_classes = 10,
                                             .num_layers = 2,
                                             .mlp_ratio = 4,
                                             .patch_size = 4},
                                   .odd = {.batch_size = 3,
                                           .image_size = 23,
                                           .embed_dim = 45,
                                           .in_channels = 5,
                                           .num_heads = 3,
                                           .num_classes = 7,
                                           .num_layers = 3,
                                           .mlp_ratio = 2,
                                           .patch_size = 5}});
}
