// Swin Transformer V2: attention by cosines within windows of an image, with a bias for each
// relative position, then a perceptron for each token, in four stages of ever coarser images. What
// a block adds is normalised at its end.
// x: [batch_size, in_chans, image_size, image_size]; y: [batch_size, num_classes]; row-major.
// Tokens are rows, those of an image in the order of its pixels.
//   t = patch_embed.norm(patch_embed.proj(x) as tokens)    proj: patch_size x patch_size, stride
//                                                          patch_size, to embed_dim channels
//   t = stage 0, ..., stage 3 of t
//   y = head(mean of norm(t) over the tokens of a sample)
// A linear layer is x * transpose(weight) + bias. gelu(x) = x * (1 + erf(x / sqrt(2))) / 2. Layer
// norm of a row: (x - mean) / sqrt(var + 1e-5) * weight + bias, var without Bessel's correction.
// Stage i, "layers.<i>", has images of e x e tokens, e = image_size / patch_size / 2^i, each of
// c = embed_dim * 2^i channels. It consists of depths[i] blocks and, before stage 3, of a merge.
// Its windows are w x w tokens, w = window_size, and shifted by f = window_size / 2 (rounded down)
// in blocks 1, 3, 5, ...; but where e <= window_size, w = e and no block is shifted.
// Block j, "layers.<i>.blocks.<j>", with H = num_heads[i], d = c / H:
//   r = t as images; where shifted, r[(y + f) mod e, (x + f) mod e] takes the place of r[y, x]
//   for each window of r, as a matrix [w * w, c], and each head h:
//     q, k, v = the thirds of r * transpose(attn.qkv.weight) + (attn.q_bias, zeros, attn.v_bias),
//               and of each the elements h * d to (h + 1) * d; each row of q and of k is divided by
//               its length, max(sqrt(sum of squares), 1e-12)
//     a = q * transpose(k) * exp(min(attn.logit_scale[h], log(100)))
//     a[m, n] = a[m, n] + 16 * sigmoid(b[h]), b = attn.cpb_mlp.2(relu(attn.cpb_mlp.0(p))), with
//               p = attn.relative_coords_table[0, ym - yn + w - 1, xm - xn + w - 1], where token m
//               is at (ym, xm) of the window; attn.cpb_mlp.0 has 512 outputs, attn.cpb_mlp.2 has H
//               and no bias
//     where shifted, a = a + attn_mask[number of the window in its image]
//     r = softmax of each row of a, times v, the heads side by side again
//   r = attn.proj(r), and back at the tokens' places
//   t = t + norm1(r)
//   t = t + norm2(mlp.fc2(gelu(mlp.fc1(t))))     fc1: to c * mlp_ratio (rounded down)
// The merge, "layers.<i>.downsample": each 2 x 2 tokens become one row of 4 c elements, in the
// order (0, 0), (1, 0), (0, 1), (1, 1) of (row, column); then t = norm(reduction(rows)), to 2 c, no
// bias.
// "....attn.relative_coords_table" [1, 2 w - 1, 2 w - 1, 2] is always g((y - w + 1) * 8 / (w - 1)),
// g((x - w + 1) * 8 / (w - 1)) at [0, y, x], with g(v) = sign(v) * log2(|v| + 1) / 3.
// "....attn_mask" [(e / w)^2, w * w, w * w] is always -100 for two tokens of which exactly one has
// y >= e - f in r, or exactly one x >= e - f, as they come from two edges of the image; else 0.
// Weights: "patch_embed.proj.weight", "patch_embed.proj.bias", "patch_embed.norm.weight",
// "patch_embed.norm.bias", for each block "....attn_mask" (where shifted), "....norm1.weight" [c],
// "....norm1.bias", "....attn.logit_scale" [H, 1, 1], "....attn.q_bias" [c], "....attn.v_bias" [c],
// "....attn.relative_coords_table", "....attn.cpb_mlp.0.weight" [512, 2],
// "....attn.cpb_mlp.0.bias", "....attn.cpb_mlp.2.weight" [H, 512], "....attn.qkv.weight"
// [3 * c, c], "....attn.proj.weight" [c, c], "....attn.proj.bias", "....norm2.weight",
// "....norm2.bias", "....mlp.fc1.weight", "....mlp.fc1.bias", "....mlp.fc2.weight"
// [c, c * mlp_ratio], "....mlp.fc2.bias", behind the blocks of a stage
// "....downsample.reduction.weight" [2 * c, 4 * c], "....downsample.norm.weight" [2 * c],
// "....downsample.norm.bias"; "norm.weight", "norm.bias", "head.weight", "head.bias".
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 10, image_size = 224, patch_size = 4, in_chans = 3, num_classes = 1000;
  int64_t embed_dim = 96;
  std::array<int64_t, 4> depths = {2, 2, 6, 2}, num_heads = {3, 6, 12, 24};
  int64_t window_size = 7;
  double mlp_ratio = 4;
  KB_FIELDS(batch_size, image_size, patch_size, in_chans, num_classes, embed_dim, depths, num_heads,
            window_size, mlp_ratio)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
