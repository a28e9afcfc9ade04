#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("a", {s.N, s.M, s.K}), input<real>("b", {s.K, s.L}),
                    output<real>("c", {s.N, s.M, s.L})};
}

static Tensor reference(const Sizes&, Tensor a, Tensor b) { return at::matmul(a, b); }

Task kb::task() {
  return define<decltype(launch)>(
      "MatMul", tensors, reference,
      {.smoke = {.N = 2, .M = 32, .K = 128, .L = 48}, .odd = {.N = 3, .M = 47, .K = 67, .L = 139}});
}
