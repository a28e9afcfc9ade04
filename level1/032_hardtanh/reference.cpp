#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const Shape shape = {s.batch_size, s.dim};
  return std::tuple{input<real>("x", shape).with(normal(0, 3)), output<real>("y", shape)};
}

static Tensor reference(const Sizes& s, Tensor x) { return at::hardtanh(x, s.min_val, s.max_val); }

Task kb::task() {
  return define<decltype(launch)>(
      "Activation", tensors, reference,
      {.smoke = {.batch_size = 16, .dim = 1536},
       .odd = {.batch_size = 3, .dim = 1021, .min_val = -0.5, .max_val = 2}});
}
