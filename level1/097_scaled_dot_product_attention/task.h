// Attention, for each batch element and head on its own and without a mask:
// out = softmax(q * transpose(k) / sqrt(embedding_dimension)) * v, softmax over the keys.
// q, k, v, out: [batch_size, num_heads, sequence_length, embedding_dimension], row-major;
// embedding_dimension is the width of one head.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 32, num_heads = 32, sequence_length = 512, embedding_dimension = 1024;
  KB_FIELDS(batch_size, num_heads, sequence_length, embedding_dimension)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* q, const real* k, const real* v, real* out,
            cudaStream_t stream);
}  // namespace task
