#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  MultiheadAttention attn{net["attn"], s.embed_dim, s.num_heads};
  LayerNorm norm{net["norm"], {s.embed_dim}};
};

static auto tensors(const Sizes& s) {
  TORCH_CHECK(s.embed_dim % s.num_heads == 0, "num_heads must divide embed_dim");
  return std::tuple{input<real>("x", {s.batch_size, s.embed_dim, s.image_height, s.image_width}),
                    weights<Network>(s),
                    output<real>("y", {s.batch_size, s.embed_dim, s.image_height, s.image_width})};
}

static Tensor reference(const Sizes& s, Tensor x, const Network& n) {
  x = x.view({s.batch_size, s.embed_dim, -1}).permute({2, 0, 1});
  x = n.norm(n.attn(x, x, x) + x);
  return x.permute({1, 2, 0}).reshape({s.batch_size, s.embed_dim, s.image_height, s.image_width});
}

Task kb::task() {
  return define<decltype(launch)>(
      "Attention", tensors, reference,
      {.smoke =
           {.embed_dim = 16, .num_heads = 4, .batch_size = 2, .image_height = 8, .image_width = 8},
       .odd = {
           .embed_dim = 15, .num_heads = 5, .batch_size = 3, .image_height = 7, .image_width = 5}});
}
