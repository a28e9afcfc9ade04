#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const Shape shape = {s.batch_size, s.dim};
  return std::tuple{input<real>("x", shape), output<real>("y", shape)};
}

static Tensor reference(const Sizes&, Tensor x) { return at::relu(x); }

Task kb::task() {
  return define<decltype(launch)>(
      "Activation", tensors, reference,
      {.smoke = {.batch_size = 16, .dim = 1536}, .odd = {.batch_size = 3, .dim = 1021}});
}
