#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

// Images of tokens, [batch, edge, edge, channels], as windows, and back.
static Tensor partition(const Tensor& x, int64_t window) {
  const int64_t n = x.size(0), across = x.size(1) / window, dim = x.size(3);
  return x.view({n, across, window, across, window, dim})
      .permute({0, 1, 3, 2, 4, 5})
      .contiguous()
      .view({-1, window * window, dim});
}
static Tensor assemble(const Tensor& windows, int64_t window, int64_t edge) {
  const int64_t across = edge / window, dim = windows.size(2);
  return windows.view({-1, across, across, window, window, dim})
      .permute({0, 1, 3, 2, 4, 5})
      .contiguous()
      .view({-1, edge, edge, dim});
}

struct Block {
  Scope net;
  int64_t dim, edge, heads, window, shift, hidden;
  int64_t tokens = window * window;
  LayerNorm norm1{net["norm1"], {dim}};
  Conv1d spatial_mlp{net["spatial_mlp"], heads* tokens, heads* tokens, 1, {.groups = heads}};
  LayerNorm norm2{net["norm2"], {dim}};
  Linear fc1{net["mlp"]["fc1"], dim, hidden}, fc2{net["mlp"]["fc2"], hidden, dim};

  Tensor mix(const Tensor& windows) const {
    const int64_t size = dim / heads;
    Tensor x = windows.view({-1, tokens, heads, size}).transpose(1, 2);
    x = spatial_mlp(x.reshape({-1, heads * tokens, size}));
    return x.view({-1, heads, tokens, size}).transpose(1, 2).reshape({-1, tokens, dim});
  }
  Tensor operator()(Tensor x) const {
    const int64_t n = x.size(0), before = window - shift;
    const Tensor shortcut = x;
    x = norm1(x).view({n, edge, edge, dim});
    if (shift > 0) x = at::constant_pad_nd(x, {0, 0, before, shift, before, shift});
    x = assemble(mix(partition(x, window)), window, x.size(1));
    if (shift > 0) x = x.slice(1, before, -shift).slice(2, before, -shift).contiguous();
    x = shortcut + x.view({n, edge * edge, dim});
    return x + fc2(at::gelu(fc1(norm2(x))));
  }
};

struct Merge {
  Scope net;
  int64_t dim, edge;
  Linear reduction{net["reduction"], 4 * dim, 2 * dim, false};
  LayerNorm norm{net["norm"], {4 * dim}};
  Tensor operator()(Tensor x) const {
    x = x.view({x.size(0), edge, edge, dim});
    const auto part = [&](int64_t row, int64_t column) {
      return x.slice(1, row, {}, 2).slice(2, column, {}, 2);
    };
    const Tensor all = at::cat({part(0, 0), part(1, 0), part(0, 1), part(1, 1)}, -1);
    return reduction(norm(all.view({x.size(0), -1, 4 * dim})));
  }
};

struct Stage {
  Scope net;
  Sizes s;
  int64_t index;
  int64_t dim = s.embed_dim << index, edge = s.image_size / s.patch_size >> index;
  std::vector<Block> blocks = make_blocks();
  std::optional<Merge> downsample =
      index < 3 ? std::optional(Merge{net["downsample"], dim, edge}) : std::nullopt;

  std::vector<Block> make_blocks() const {
    const bool whole = edge <= s.window_size;
    const int64_t window = whole ? edge : s.window_size;
    const auto hidden = static_cast<int64_t>(dim * s.mlp_ratio);
    std::vector<Block> made;
    for (int64_t i = 0; i < s.depths[index]; ++i) {
      const int64_t shift = whole || i % 2 == 0 ? 0 : s.window_size / 2;
      made.push_back(Block{net["blocks"][i], dim, edge, s.num_heads[index], window, shift, hidden});
    }
    return made;
  }
  Tensor operator()(Tensor x) const {
    for (const Block& block : blocks) x = block(x);
    return downsample ? (*downsample)(x) : x;
  }
};

struct Network {
  Scope net;
  Sizes s;
  Conv2d proj{
      net["patch_embed"]["proj"], s.in_chans, s.embed_dim, s.patch_size, {.stride = s.patch_size}};
  LayerNorm patch_norm{net["patch_embed"]["norm"], {s.embed_dim}};
  Stage stages[4] = {stage(0), stage(1), stage(2), stage(3)};
  LayerNorm norm{net["norm"], {8 * s.embed_dim}};
  Linear head{net["head"], 8 * s.embed_dim, s.num_classes};

  Stage stage(int64_t i) const { return {net["layers"][i], s, i}; }
  Tensor operator()(Tensor x) const {
    x = patch_norm(proj(x).flatten(2).transpose(1, 2));
    for (const Stage& stage : stages) x = stage(x);
    x = at::adaptive_avg_pool1d(norm(x).transpose(1, 2), 1);
    return head(at::flatten(x, 1));
  }
};

static auto tensors(const Sizes& s) {
  const int64_t edge = s.image_size / s.patch_size;
  TORCH_CHECK(edge % 8 == 0, "image_size / patch_size must be a multiple of 8");
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t here = edge >> i;
    TORCH_CHECK(here <= s.window_size || here % s.window_size == 0, "window_size must divide ",
                here, ", the edge of stage ", i, ", or be as large");
    TORCH_CHECK((s.embed_dim << i) % s.num_heads[i] == 0, "num_heads must divide ",
                s.embed_dim << i, ", the channels of stage ", i);
  }
  return std::tuple{input<real>("x", {s.batch_size, s.in_chans, s.image_size, s.image_size}),
                    weights<Network>(s), output<real>("y", {s.batch_size, s.num_classes})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& net) { return net(x); }

Task kb::task() {
  return define<decltype(launch)>("Arch-Transformer", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .image_size = 32,
                                             .patch_size = 2,
                                             .in_chans = 3,
                                             .num_classes = 10,
                                             .embed_dim = 8,
                                             .depths = {1, 2, 1, 1},
                                             .num_heads = {1, 2, 4, 2},
                                             .window_size = 4,
                                             .mlp_ratio = 2},
                                   .odd = {.batch_size = 1,
                                           .image_size = 73,
                                           .patch_size = 3,
                                           .in_chans = 5,
                                           .num_classes = 7,
                                           .embed_dim = 5,
                                           .depths = {3, 1, 2, 3},
                                           .num_heads = {5, 1, 5, 5},
                                           .window_size = 3,
                                           .mlp_ratio = 1.5}});
}
