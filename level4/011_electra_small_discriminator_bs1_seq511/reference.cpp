#include "task.h"

#include "../architectures/electra.h"

Task kb::task() {
  return electra({.smoke = {.batch_size = 1,
                            .seq_len = 31,
                            .vocab_size = 101,
                            .max_position_embeddings = 64,
                            .type_vocab_size = 2,
                            .embedding_size = 16,
                            .hidden_size = 32,
                            .num_hidden_layers = 2,
                            .num_attention_heads = 4,
                            .intermediate_size = 128},
                  .odd = {.batch_size = 2,
                          .seq_len = 70,
                          .vocab_size = 89,
                          .max_position_embeddings = 75,
                          .type_vocab_size = 3,
                          .embedding_size = 13,
                          .hidden_size = 35,
                          .num_hidden_layers = 3,
                          .num_attention_heads = 5,
                          .intermediate_size = 77}});
}
