#include "task.h"

#include "../architectures/bart.h"

Task kb::task() {
  return bart({.smoke = {.batch_size = 4,
                         .seq_len = 4,
                         .vocab_size = 101,
                         .max_position_embeddings = 64,
                         .d_model = 32,
                         .decoder_layers = 2,
                         .decoder_attention_heads = 4,
                         .decoder_ffn_dim = 128},
               .odd = {.batch_size = 7,
                       .seq_len = 5,
                       .vocab_size = 89,
                       .max_position_embeddings = 75,
                       .d_model = 35,
                       .decoder_layers = 3,
                       .decoder_attention_heads = 5,
                       .decoder_ffn_dim = 77}});
}
