// NetVLAD in training mode: its batch norm uses the statistics of the batch.
// x: [batch_size, num_features, feature_size]; y: [batch_size, feature_size * num_clusters];
// row-major.
//   a = softmax of each row of batch_norm(x as rows * clusters)    [batch_size * num_features, num]
//       num = num_clusters
// and for each sample, with a: [num_features, num_clusters] and x: [num_features, feature_size],
//   v = transpose(x) * a - clusters2 * (sums of the columns of a)  [feature_size, num_clusters]
//   v = each column of v divided by its norm; y = v divided by the norm of all of it
// A norm is the root of the sum of squares, but at least 1e-12; clusters2 [feature_size,
// num_clusters] is multiplied column by column. Batch norm of a column: (x - mean) / sqrt(var +
// 1e-5) * weight + bias, with mean and var over all rows, var without Bessel's correction.
// Weights: "clusters" [feature_size, num_clusters], "clusters2" [1, feature_size, num_clusters],
// "batch_norm.weight" and "batch_norm.bias" [num_clusters].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 2048, num_features = 100, num_clusters = 32, feature_size = 512;
  KB_FIELDS(batch_size, num_features, num_clusters, feature_size)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
