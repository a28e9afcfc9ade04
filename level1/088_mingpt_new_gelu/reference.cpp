#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const Shape shape = {s.batch_size, s.dim};
  return std::tuple{input<real>("x", shape), output<real>("y", shape)};
}

static Tensor reference(const Sizes&, Tensor x) {
  const Tensor half = 0.5 * x;
  return half * (1 + at::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * at::pow(x, 3))));
}

Task kb::task() {
  return define<decltype(launch)>(
      "Activation", tensors, reference,
      {.smoke = {.batch_size = 64, .dim = 64}, .odd = {.batch_size = 7, .dim = 1013}});
}
