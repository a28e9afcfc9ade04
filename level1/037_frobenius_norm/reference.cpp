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
  return define<decltype(launch)>("Normalization", tensors, reference,
                                  {.smoke = {7, 8, 16, 16}, .odd = {3, 5, 7, 11}});
}
