#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const Shape shape = {s.batch_size, s.features, s.dim1, s.dim2};
  return std::tuple{input<real>("x", shape), output<real>("y", shape)};
}

static Tensor reference(const Sizes& s, Tensor x) {
  return x / at::sqrt(at::mean(at::square(x), 1, /*keepdim=*/true) + s.eps);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Normalization", tensors, reference,
      {.smoke = {.batch_size = 7, .features = 8, .dim1 = 16, .dim2 = 16},
       .odd = {.batch_size = 3, .features = 5, .dim1 = 7, .dim2 = 41, .eps = 0.01}});
}
