#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("a", {s.M, s.K}), input<real>("b", {s.K, s.N}),
                    output<real>("c", {s.M, s.N})};
}

static Tensor reference(const Sizes&, Tensor a, Tensor b) { return at::matmul(a, b); }

Task kb::task() {
  return define<decltype(launch)>(
      "MatMul", tensors, reference,
      {.smoke = {.M = 128, .N = 128, .K = 64}, .odd = {.M = 131, .N = 149, .K = 37}});
}
