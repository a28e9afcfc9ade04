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

// ---- Buffers: functions of the sizes ----

static Tensor coordinates(int64_t window) {
  const Tensor at = at::arange(1 - window, window, at::kFloat);
  Tensor table = at::stack(at::meshgrid({at, at}, "ij")).permute({1, 2, 0}).unsqueeze(0);
  table = table / static_cast<double>(window - 1) * 8;
  return at::sign(table) * at::log2(at::abs(table) + 1.0) / std::log2(8.0);
}

// Tokens that the shift brings together from two edges of the image do not see each other.
static Tensor mask(int64_t edge, int64_t window, int64_t shift) {
  Tensor image = at::zeros({1, edge, edge, 1});
  const int64_t ends[] = {0, edge - window, edge - shift, edge};
  for (int64_t i = 0; i < 9; ++i) {
    const int64_t row = i / 3, column = i % 3;
    image.slice(1, ends[row], ends[row + 1]).slice(2, ends[column], ends[column + 1]).fill_(i);
  }
  const Tensor region = partition(image, window).squeeze(2);
  return (region.unsqueeze(1) - region.unsqueeze(2)).ne(0).to(at::kFloat) * -100.0;
}

// Which row of the table of biases belongs to each two tokens of a window.
static Tensor position_index(int64_t window) {
  const Tensor at = at::arange(window);
  const Tensor coords = at::stack(at::meshgrid({at, at}, "ij")).flatten(1);
  const Tensor relative = coords.unsqueeze(2) - coords.unsqueeze(1) + (window - 1);
  return relative[0] * (2 * window - 1) + relative[1];
}

static Fill always(const Tensor& values) {
  return [values](Tensor& out, at::Generator&) { out.copy_(values); };
}

// ---- The network ----

// F.normalize over the last dimension.
static Tensor normalize(const Tensor& x) {
  return x / at::linalg_vector_norm(x, 2, -1, /*keepdim=*/true).clamp_min(1e-12).expand_as(x);
}

struct Attention {
  Scope net;
  int64_t dim, heads, window;
  int64_t tokens = window * window, span = 2 * window - 1;
  // Some above log(100), where they are clamped.
  Parameter logit_scale =
      net.weight("logit_scale", {heads, 1, 1}, uniform(1, 6), constant(std::log(10.0)));
  Parameter q_bias = net.weight("q_bias", {dim}), v_bias = net.weight("v_bias", {dim});
  Parameter relative_coords_table =
      net.buffer("relative_coords_table", {1, span, span, 2}, always(coordinates(window)),
                 always(coordinates(window)));
  Parameter relative_position_index = net.state("relative_position_index", {tokens, tokens},
                                                at::kLong, always(position_index(window)));
  Linear cpb1{net["cpb_mlp"][0], 2, 512}, cpb2{net["cpb_mlp"][2], 512, heads, false};
  Parameter qkv = net["qkv"].weight("weight", {3 * dim, dim});
  Linear proj{net["proj"], dim, dim};

  Tensor position_bias() const {
    const Tensor table = cpb2(relu_(cpb1(relative_coords_table))).view({-1, heads});
    Tensor bias = table.index({relative_position_index->view(-1)}).view({tokens, tokens, -1});
    bias = bias.permute({2, 0, 1}).contiguous();
    return 16 * at::sigmoid(bias);
  }
  Tensor operator()(const Tensor& x, const Tensor& mask) const {
    const int64_t windows = x.size(0);
    const Tensor bias = at::cat({q_bias, at::zeros_like(v_bias), v_bias});
    const Tensor all =
        at::linear(x, qkv, bias).reshape({windows, tokens, 3, heads, -1}).permute({2, 0, 3, 1, 4});
    const Tensor q = all[0], k = all[1], v = all[2];
    Tensor attn = at::matmul(normalize(q), normalize(k).transpose(-2, -1));
    const Tensor most = at::scalar_tensor(100.0, logit_scale->options()).log();
    attn = attn * at::clamp(logit_scale, /*min=*/std::optional<Tensor>(), most).exp();
    attn = attn + position_bias().unsqueeze(0);
    if (mask.defined()) {
      const int64_t of_image = mask.size(0);
      attn = attn.view({windows / of_image, of_image, heads, tokens, tokens}) +
             mask.unsqueeze(1).unsqueeze(0);
      attn = attn.view({-1, heads, tokens, tokens});
    }
    attn = at::softmax(attn, -1);
    return proj(at::matmul(attn, v).transpose(1, 2).reshape({windows, tokens, dim}));
  }
};

struct Block {
  Scope net;
  int64_t dim, edge, heads, window, shift, hidden;
  Parameter attn_mask = shift > 0 ? mask_buffer() : Parameter();
  LayerNorm norm1{net["norm1"], {dim}};
  Attention attn{net["attn"], dim, heads, window};
  LayerNorm norm2{net["norm2"], {dim}};
  Linear fc1{net["mlp"]["fc1"], dim, hidden}, fc2{net["mlp"]["fc2"], hidden, dim};

  Parameter mask_buffer() const {
    const Tensor values = mask(edge, window, shift);
    return net.buffer("attn_mask", values.sizes().vec(), always(values), always(values));
  }
  Tensor operator()(Tensor x) const {
    const int64_t n = x.size(0);
    const Tensor shortcut = x;
    x = x.view({n, edge, edge, dim});
    if (shift > 0) x = at::roll(x, {-shift, -shift}, {1, 2});
    x = assemble(attn(partition(x, window), *attn_mask), window, edge);
    if (shift > 0) x = at::roll(x, {shift, shift}, {1, 2});
    x = shortcut + norm1(x.view({n, edge * edge, dim}));
    return x + norm2(fc2(at::gelu(fc1(x))));
  }
};

struct Merge {
  Scope net;
  int64_t dim, edge;
  Linear reduction{net["reduction"], 4 * dim, 2 * dim, false};
  LayerNorm norm{net["norm"], {2 * dim}};
  Tensor operator()(Tensor x) const {
    x = x.view({x.size(0), edge, edge, dim});
    const auto part = [&](int64_t row, int64_t column) {
      return x.slice(1, row, {}, 2).slice(2, column, {}, 2);
    };
    const Tensor all = at::cat({part(0, 0), part(1, 0), part(0, 1), part(1, 1)}, -1);
    return norm(reduction(all.view({x.size(0), -1, 4 * dim})));
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
  TORCH_CHECK(edge >= 16 && s.window_size >= 2,
              "windows of one token have no relative positions: image_size / patch_size must be 16 "
              "or more, window_size 2 or more");
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
