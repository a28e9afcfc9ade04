// Swin MLP: windows of an image are mixed by a matrix for each head, then each token by a
// perceptron, in four stages of ever coarser images.
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
// Block j, "layers.<i>.blocks.<j>":
//   r = norm1(t) as images; where shifted, with w - f rows and columns of zeros before the first
//       and f behind the last
//   for each window of r, as a matrix [w * w, c], and each of num_heads[i] heads h, which has the
//       channels h * d to (h + 1) * d, d = c / num_heads[i]:
//       r[m, channel] = sum over n of spatial_mlp.weight[h * w * w + m, n] * r[n, channel] +
//                       spatial_mlp.bias[h * w * w + m]
//   t = t + r without what was added around it
//   t = t + mlp.fc2(gelu(mlp.fc1(norm2(t))))     fc1: to c * mlp_ratio (rounded down)
// The merge, "layers.<i>.downsample": each 2 x 2 tokens become one row of 4 c elements, in the
// order (0, 0), (1, 0), (0, 1), (1, 1) of (row, column); then t = reduction(norm(rows)), to 2 c, no
// bias. Weights: "patch_embed.proj.weight", "patch_embed.proj.bias", "patch_embed.norm.weight",
// "patch_embed.norm.bias", for each block "....norm1.weight" [c], "....norm1.bias",
// "....spatial_mlp.weight" [num_heads[i] * w * w, w * w, 1], "....spatial_mlp.bias",
// "....norm2.weight", "....norm2.bias", "....mlp.fc1.weight", "....mlp.fc1.bias",
// "....mlp.fc2.weight" [c, c * mlp_ratio], "....mlp.fc2.bias", behind the blocks of a stage
// "....downsample.reduction.weight" [2 * c, 4 * c], "....downsample.norm.weight" [4 * c],
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
