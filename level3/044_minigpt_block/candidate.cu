#include "task.h"

#include <kb/network.cuh>

#include "../architectures/mingpt.cuh"

using kb::Activation;
using kb::FeatureMap;

void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);

  const int64_t rows = s.batch_size * s.seq_len;
  const FeatureMap input = net.input(x, rows, s.n_embd);
  const FeatureMap qkv = net.linear("attn.c_attn", net.layer_norm("ln_1", input));
  FeatureMap t = net.make(rows, s.n_embd);
  attend<kb::AttentionRows::softmax>(stream, s.batch_size, s.seq_len, s.n_embd, s.n_head, qkv.data,
                                     t.data);
  t = net.linear("attn.c_proj", t, Activation::none, input);
  const FeatureMap wide = net.linear("mlp.c_fc", net.layer_norm("ln_2", t), Activation::gelu_tanh);
  net.linear_to(net.output(y, rows, s.n_embd), "mlp.c_proj", wide, Activation::none, t);
}
