#include "task.h"

#include <kb/attention.cuh>
#include <kb/network.cuh>

using kb::FeatureMap;

static void attend(cudaStream_t stream, int64_t samples, int64_t steps, int64_t embed,
                   int64_t heads, const kb::real* qkv, kb::real* out) {
  const kb::AttentionShape shape = {heads, steps, steps, embed / heads, 3 * embed, embed};
  kb::launch_attention<kb::AttentionRows::softmax>(stream, samples, shape, kb::SeesEarlier{}, qkv,
                                                   qkv + embed, qkv + 2 * embed, out);
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
