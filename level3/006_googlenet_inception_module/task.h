// An inception module of GoogLeNet: four branches side by side, without activations.
// x: [batch_size, in_channels, height, width]; y: [batch_size, out_1x1 + out_3x3 + out_5x5 +
// pool_proj, height, width]: the branches' results along the channels, in this order; row-major.
//   branch1x1(x)                             1x1 to out_1x1
//   branch3x3.1(branch3x3.0(x))              1x1 to reduce_3x3, then 3x3 with padding 1 to out_3x3
//   branch5x5.1(branch5x5.0(x))              1x1 to reduce_5x5, then 5x5 with padding 2 to out_5x5
//   branch_pool.1(max_pool(x))               3x3, stride 1, padding 1 (of -infinity), then 1x1 to
//                                            pool_proj
// Weights, each with "....bias" [out_channels] after it: "branch1x1.weight" [out_1x1, in_channels,
// 1, 1], "branch3x3.0.weight" [reduce_3x3, in_channels, 1, 1], "branch3x3.1.weight" [out_3x3,
// reduce_3x3, 3, 3], "branch5x5.0.weight" [reduce_5x5, in_channels, 1, 1], "branch5x5.1.weight"
// [out_5x5, reduce_5x5, 5, 5], "branch_pool.1.weight" [pool_proj, in_channels, 1, 1].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t in_channels = 480, out_1x1 = 192, reduce_3x3 = 96, out_3x3 = 208, reduce_5x5 = 16;
  int64_t out_5x5 = 48, pool_proj = 64, batch_size = 10, height = 224, width = 224;
  KB_FIELDS(in_channels, out_1x1, reduce_3x3, out_3x3, reduce_5x5, out_5x5, pool_proj, batch_size,
            height, width)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
