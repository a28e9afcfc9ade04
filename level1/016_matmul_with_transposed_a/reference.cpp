#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("a", {s.K, s.M}), input<real>("b", {s.K, s.N}),
                    output<real>("c", {s.M, s.N})};
}

static Tensor reference(const Sizes&, Tensor a, Tensor b) { return at::matmul(a.t(), b); }

Task kb::task() {
  return define<decltype(launch)>(
      "MatMul", tensors, reference,
      {.smoke = {.M = 48, .K = 192, .N = 96}, .odd = {.M = 61, .K = 193, .N = 131}});
}
