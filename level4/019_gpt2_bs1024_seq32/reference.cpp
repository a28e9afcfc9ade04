#include "task.h"

#include "../architectures/gpt2.h"

Task kb::task() {
  return gpt2({.smoke = {.batch_size = 4,
                         .seq_len = 4,
                         .vocab_size = 101,
                         .n_positions = 64,
                         .n_embd = 32,
                         .n_layer = 2,
                         .n_head = 4},
               .odd = {.batch_size = 7,
                       .seq_len = 5,
                       .vocab_size = 89,
                       .n_positions = 75,
                       .n_embd = 35,
                       .n_layer = 3,
                       .n_head = 5}});
}
