#include "task.h"

#include "../architectures/opt.h"

Task kb::task() {
  return opt({.smoke = {.batch_size = 4,
                        .seq_len = 4,
                        .vocab_size = 101,
                        .max_position_embeddings = 64,
                        .hidden_size = 32,
                        .num_hidden_layers = 2,
                        .num_attention_heads = 4,
                        .ffn_dim = 128},
              .odd = {.batch_size = 7,
                      .seq_len = 5,
                      .vocab_size = 89,
                      .max_position_embeddings = 75,
                      .hidden_size = 35,
                      .num_hidden_layers = 3,
                      .num_attention_heads = 5,
                      .ffn_dim = 77}});
}
