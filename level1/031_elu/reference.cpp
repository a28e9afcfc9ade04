#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const Shape shape = {s.batch_size, s.dim};
  return std::tuple{input<real>("x", shape), output<real>("y", shape)};
}

static Tensor reference(const Sizes& s, Tensor x) { return at::elu(x, s.alpha); }

Task kb::task() {
  return define<decltype(launch)>("Activation", tensors, reference,
                                  {.smoke = {.batch_size = 16, .dim = 1536},
                                   .odd = {.batch_size = 3, .dim = 1021, .alpha = 0.7}});
}
