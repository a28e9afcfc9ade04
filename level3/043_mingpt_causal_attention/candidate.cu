#include "task.h"

#include <kb/network.cuh>

#include "../architectures/mingpt.cuh"

using kb::FeatureMap;

void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);

  const int64_t rows = s.batch_size * s.seq_len;
  const FeatureMap qkv = net.linear("c_attn", net.input(x, rows, s.n_embd));
  const FeatureMap t = net.make(rows, s.n_embd);
  attend<kb::AttentionRows::softmax>(stream, s.batch_size, s.seq_len, s.n_embd, s.n_head, qkv.data,
                                     t.data);
  net.linear_to(net.output(y, rows, s.n_embd), "c_proj", t);
}
