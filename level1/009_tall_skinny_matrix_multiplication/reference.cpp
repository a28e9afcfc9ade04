#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("a", {s.M, s.N}), input<real>("b", {s.N, s.M}),
                    output<real>("c", {s.M, s.M})};
}

static Tensor reference(const Sizes&, Tensor a, Tensor b) { return at::matmul(a, b); }

Task kb::task() {
  return define<decltype(launch)>("MatMul", tensors, reference,
                                  {.smoke = {.M = 192, .N = 32}, .odd = {.M = 151, .N = 29}});
}
