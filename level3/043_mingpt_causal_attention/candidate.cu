#include "task.h"

#include <kb/attention.cuh>
#include <kb/network.cuh>

using kb::FeatureMap;

// One sample at a time, so that its scores stay in the cache.
static void attend(cudaStream_t stream, int64_t samples, int64_t steps, int64_t embed,
                   int64_t heads, const kb::real* qkv, kb::real* out) {
  const kb::AttentionShape shape = {heads, steps, steps, embed / heads, 3 * embed, embed, true};
  for (int64_t n = 0; n < samples; ++n) {
    const kb::real* const q = qkv + n * steps * 3 * embed;
    kb::launch_attention<kb::AttentionRows::softmax>(stream, shape, q, q + embed, q + 2 * embed,
                                                     out + n * steps * embed);
  }
}

void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);

  const int64_t rows = s.batch_size * s.seq_len;
  const FeatureMap qkv = net.linear("c_attn", net.input(x, rows, s.n_embd));
  const FeatureMap t = net.make(rows, s.n_embd);
  attend(stream, s.batch_size, s.seq_len, s.n_embd, s.n_head, qkv.data, t.data);
  net.linear_to(net.output(y, rows, s.n_embd), "c_proj", t);
}
