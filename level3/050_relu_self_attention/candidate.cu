#include "task.h"

#include <kb/network.cuh>

#include "../architectures/mingpt.cuh"

using kb::FeatureMap;

void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);

  const FeatureMap qkv = net.linear("c_attn", net.input(x, s.batch_size * s.max_seqlen, s.n_embd));
  attend<kb::AttentionRows::relu>(stream, s.batch_size, s.max_seqlen, s.n_embd, s.n_head, qkv.data,
                                  y);
}
