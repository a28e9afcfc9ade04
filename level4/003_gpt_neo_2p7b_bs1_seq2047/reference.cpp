#include "task.h"

#include "../architectures/gpt_neo.h"

Task kb::task() {
  return gpt_neo({.smoke = {.batch_size = 1,
                            .seq_len = 31,
                            .vocab_size = 101,
                            .max_position_embeddings = 64,
                            .hidden_size = 32,
                            .num_layers = 2,
                            .num_heads = 4,
                            .window_size = 8},
                  .odd = {.batch_size = 2,
                          .seq_len = 70,
                          .vocab_size = 89,
                          .max_position_embeddings = 75,
                          .hidden_size = 35,
                          .num_layers = 4,
                          .num_heads = 5,
                          .window_size = 7}});
}
