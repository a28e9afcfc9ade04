// A transformer on two tokens: a class token, and the whole image projected to one token.
// x: [batch_size, in_channels, image_size, image_size]; y: [batch_size, num_classes]; row-major.
//   t = conv1(x) as one row per sample      conv1: patch_size x patch_size, stride patch_size, to
//                                           embed_dim channels
//   rows of a sample: cls_token, linear_proj(t)
//   rows = each of num_layers transformer layers of rows;  y = fc_out(the first row of the sample)
// A linear layer is x * transpose(weight) + bias. Layer i, "transformer_layers.<i>", for each
// sample:
//   q, k, v = the thirds of rows * transpose(self_attn.in_proj_weight) + self_attn.in_proj_bias, of
//             which head h has the elements h * d to (h + 1) * d, d = embed_dim / num_heads
//   a = softmax of each row of q * transpose(k) / sqrt(d), times v, the heads side by side again
//   rows = norm1(rows + self_attn.out_proj(a))
//   rows = norm2(rows + linear2(relu(linear1(rows))))       linear1: to embed_dim * mlp_ratio
// Layer norm of a row: (x - mean) / sqrt(var + 1e-5) * weight + bias, var without Bessel's
// correction.
// Weights: "cls_token" [1, 1, embed_dim], "conv1.weight", "conv1.bias", "linear_proj.weight"
// [embed_dim, embed_dim * patches], "linear_proj.bias", for each layer
// "....self_attn.in_proj_weight", "....self_attn.in_proj_bias", "....self_attn.out_proj.weight",
// "....self_attn.out_proj.bias", "....linear1.weight", "....linear1.bias", "....linear2.weight",
// "....linear2.bias", "....norm1.weight", "....norm1.bias", "....norm2.weight", "....norm2.bias";
// "fc_out.weight", "fc_out.bias".
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 10, image_size = 32, embed_dim = 128, in_channels = 3, num_heads = 4;
  int64_t num_classes = 1000, num_layers = 6, mlp_ratio = 4, patch_size = 4;
  KB_FIELDS(batch_size, image_size, embed_dim, in_channels, num_heads, num_classes, num_layers,
            mlp_ratio, patch_size)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
