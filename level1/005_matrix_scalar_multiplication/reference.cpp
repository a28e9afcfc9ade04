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
  return define<decltype(launch)>("Activation", tensors, reference,
                                  {.smoke = {128, 64}, .odd = {17, 1019, -0.7}});
}
