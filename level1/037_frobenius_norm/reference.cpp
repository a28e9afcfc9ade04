#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const Shape shape = {s.batch_size, s.features, s.dim1, s.dim2};
  return std::tuple{input<real>("x", shape), output<real>("y", shape)};
}

static Tensor reference(const Sizes&, Tensor x) { return x / at::linalg_vector_norm(x, 2); }

Task kb::task() {
  return define<decltype(launch)>(
      "Normalization", tensors, reference,
      {.smoke = {.batch_size = 7, .features = 8, .dim1 = 16, .dim2 = 16},
       .odd = {.batch_size = 3, .features = 5, .dim1 = 7, .dim2 = 11}});
}
