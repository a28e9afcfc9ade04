#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const Shape shape = {s.batch_size, s.num_heads, s.sequence_length, s.embedding_dimension};
  // Scores with a deviation of 3 attend to several keys each; scaled rows of q and k would make
  // scores of several hundred, whose rounding errors drown everything.
  return std::tuple{input<real>("q", shape).with(normal(0, 3)),
                    input<real>("k", shape).with(normal()), input<real>("v", shape),
                    output<real>("out", shape)};
}

static Tensor reference(const Sizes&, Tensor q, Tensor k, Tensor v) {
  return at::scaled_dot_product_attention(q, k, v);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Attention", tensors, reference,
      {.smoke = {.batch_size = 2, .num_heads = 2, .sequence_length = 32, .embedding_dimension = 64},
       .odd = {.batch_size = 1, .num_heads = 3, .sequence_length = 67, .embedding_dimension = 37}});
}
