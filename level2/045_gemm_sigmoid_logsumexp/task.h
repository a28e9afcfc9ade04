// Two linear layers with a sigmoid between them, then logsumexp over the features:
// h = sigmoid(x * transpose(weight1) + bias1); v = h * transpose(weight2) + bias2;
// y[i] = log(sum over j of exp(v[i][j])).
// x: [batch_size, input_size]; y: [batch_size]
// weight1: [hidden_size, input_size]; bias1: [hidden_size]
// weight2: [output_size, hidden_size]; bias2: [output_size]. All row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 16384, input_size = 2048, hidden_size = 4096, output_size = 1024;
  KB_FIELDS(batch_size, input_size, hidden_size, output_size)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight1, const real* bias1,
            const real* weight2, const real* bias2, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight1, const real* bias1,
                         const real* weight2, const real* bias2, cudaStream_t stream);
}  // namespace task
