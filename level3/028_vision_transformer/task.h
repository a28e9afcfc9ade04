// A vision transformer whose layers attend over the samples of the batch, not over the tokens of a
// sample, as upstream leaves batch_first out. The class token of a sample so meets those of the
// other samples only, which are all the same, and no image reaches the result.
// x: [batch_size, channels, image_size, image_size]; y: [batch_size, num_classes]; row-major.
// With p = patch_size and l = image_size / p:
//   t = x as [batch_size, channels, l, l, p, p], tile (i, j) of a channel at [..., i, j, :, :];
//       a sample's elements in this order, cut into l * l rows of p * p * channels elements
//   t = patch_to_embedding(t), with cls_token as row 0 in front of them; t = t + pos_embedding
//   t = each of depth transformer layers of t
//   y = mlp_head.3(gelu(mlp_head.0(row 0 of each sample)))
// A linear layer is x * transpose(weight) + bias. gelu(x) = x * (1 + erf(x / sqrt(2))) / 2.
// Layer i, "transformer.layers.<i>", for the rows r of all samples with the same place, a matrix
// [batch_size, dim]:
//   q, k, v = the thirds of r * transpose(self_attn.in_proj_weight) + self_attn.in_proj_bias, of
//             which head h has the elements h * d to (h + 1) * d, d = dim / heads
//   a = softmax of each row of q * transpose(k) / sqrt(d), times v, the heads side by side again
//   r = norm1(r + self_attn.out_proj(a))
//   r = norm2(r + linear2(relu(linear1(r))))
// Layer norm of a row: (x - mean) / sqrt(var + 1e-5) * weight + bias, var without Bessel's
// correction.
// Weights: "pos_embedding" [1, l * l + 1, dim], "cls_token" [1, 1, dim],
// "patch_to_embedding.weight" [dim, p * p * channels], "patch_to_embedding.bias", for each layer
// "....self_attn.in_proj_weight" [3 * dim, dim], "....self_attn.in_proj_bias",
// "....self_attn.out_proj.weight" [dim, dim], "....self_attn.out_proj.bias", "....linear1.weight"
// [mlp_dim, dim], "....linear1.bias", "....linear2.weight" [dim, mlp_dim], "....linear2.bias",
// "....norm1.weight" [dim], "....norm1.bias", "....norm2.weight", "....norm2.bias";
// "mlp_head.0.weight" [mlp_dim, dim], "mlp_head.0.bias", "mlp_head.3.weight" [num_classes,
// mlp_dim], "mlp_head.3.bias".
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 2, image_size = 224, patch_size = 16, num_classes = 10, dim = 512;
  int64_t depth = 6, heads = 8, mlp_dim = 2048, channels = 3;
  KB_FIELDS(batch_size, image_size, patch_size, num_classes, dim, depth, heads, mlp_dim, channels)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
