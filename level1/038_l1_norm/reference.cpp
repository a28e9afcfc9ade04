#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const Shape shape = {s.batch_size, s.dim};
  return std::tuple{input<real>("x", shape), output<real>("y", shape)};
}

static Tensor reference(const Sizes&, Tensor x) {
  return x / at::mean(at::abs(x), 1, /*keepdim=*/true);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Normalization", tensors, reference,
      {.smoke = {.batch_size = 32, .dim = 1023}, .odd = {.batch_size = 7, .dim = 1021}});
}
