#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const Shape shape = {s.M, s.N};
  return std::tuple{input<real>("a", shape), output<real>("c", shape)};
}

static Tensor reference(const Sizes& s, Tensor a) { return at::mul(a, s.s); }

Task kb::task() {
  return define<decltype(launch)>(
      "Activation", tensors, reference,
      {.smoke = {.M = 128, .N = 64}, .odd = {.M = 17, .N = 1019, .s = -0.7}});
}
