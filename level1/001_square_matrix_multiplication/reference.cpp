#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const Shape square = {s.N, s.N};
  return std::tuple{input<real>("a", square), input<real>("b", square), output<real>("c", square)};
}

static Tensor reference(const Sizes&, Tensor a, Tensor b) { return at::matmul(a, b); }

Task kb::task() {
  return define<decltype(launch)>("MatMul", tensors, reference,
                                  {.smoke = {.N = 96}, .odd = {.N = 101}});
}
