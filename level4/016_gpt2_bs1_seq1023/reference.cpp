#include "task.h"

#include "../architectures/gpt2.h"

Task kb::task() {
  return gpt2({.smoke = {.batch_size = 1,
                         .seq_len = 31,
                         .vocab_size = 101,
                         .n_positions = 64,
                         .n_embd = 32,
                         .n_layer = 2,
                         .n_head = 4},
               .odd = {.batch_size = 2,
                       .seq_len = 70,
                       .vocab_size = 89,
                       .n_positions = 75,
                       .n_embd = 35,
                       .n_layer = 3,
                       .n_head = 5}});
}
