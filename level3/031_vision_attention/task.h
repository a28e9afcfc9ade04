// Self-attention of the pixels of an image, a residual and a layer norm.
// x, y: [batch_size, embed_dim, image_height, image_width], row-major. For each sample, with its
// pixels as rows, t: [image_height * image_width, embed_dim]:
//   q, k, v = the three thirds of t * transpose(attn.in_proj_weight) + attn.in_proj_bias, of which
//             head h has the elements h * d to (h + 1) * d, d = embed_dim / num_heads
//   a = softmax of each row of q * transpose(k) / sqrt(d), times v, the heads side by side again
//   t = norm(a * transpose(attn.out_proj.weight) + attn.out_proj.bias + t)
// and y holds t as an image again. Layer norm of a row: (x - mean) / sqrt(var + 1e-5) * weight +
// bias, var without Bessel's correction. Upstream also computes the mean of the softmax over the
// heads, which no output shows; a kernel need not.
// Weights: "attn.in_proj_weight" [3 * embed_dim, embed_dim], "attn.in_proj_bias",
// "attn.out_proj.weight" [embed_dim, embed_dim], "attn.out_proj.bias", "norm.weight" [embed_dim],
// "norm.bias".
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t embed_dim = 128, num_heads = 4, batch_size = 2, image_height = 128, image_width = 128;
  KB_FIELDS(embed_dim, num_heads, batch_size, image_height, image_width)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
