#include "task.h"

#include "../architectures/bigbird.h"

Task kb::task() {
  return bigbird({.smoke = {.batch_size = 2,
                            .seq_len = 16,
                            .vocab_size = 101,
                            .max_position_embeddings = 64,
                            .type_vocab_size = 2,
                            .hidden_size = 32,
                            .num_hidden_layers = 2,
                            .num_attention_heads = 4,
                            .intermediate_size = 128,
                            .block_size = 4,
                            .num_random_blocks = 1},
                  .odd = {.batch_size = 3,
                          .seq_len = 23,
                          .vocab_size = 89,
                          .max_position_embeddings = 75,
                          .type_vocab_size = 3,
                          .hidden_size = 35,
                          .num_hidden_layers = 3,
                          .num_attention_heads = 5,
                          .intermediate_size = 77,
                          .block_size = 5,
                          .num_random_blocks = 2}});
}
