#include "task.h"

#include "../architectures/reformer.h"

Task kb::task() {
  return reformer({.smoke = {.batch_size = 2,
                             .seq_len = 16,
                             .vocab_size = 101,
                             .axial_pos_shape = {4, 16},
                             .axial_pos_embds_dim = {8, 24},
                             .hidden_size = 32,
                             .num_hidden_layers = 4,
                             .num_attention_heads = 4,
                             .attention_head_size = 8,
                             .feed_forward_size = 64,
                             .local_attn_chunk_length = 8,
                             .lsh_attn_chunk_length = 16},
                   .odd = {.batch_size = 3,
                           .seq_len = 24,
                           .vocab_size = 89,
                           .axial_pos_shape = {5, 7},
                           .axial_pos_embds_dim = {9, 26},
                           .hidden_size = 35,
                           .num_hidden_layers = 3,
                           .num_attention_heads = 5,
                           .attention_head_size = 7,
                           .feed_forward_size = 77,
                           .local_attn_chunk_length = 6,
                           .lsh_attn_chunk_length = 24}});
}
