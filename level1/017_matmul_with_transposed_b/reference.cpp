#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("a", {s.M, s.K}), input<real>("b", {s.N, s.K}),
                    output<real>("c", {s.M, s.N})};
}

static Tensor reference(const Sizes&, Tensor a, Tensor b) { return at::matmul(a, b.t()); }

Task kb::task() {
  return define<decltype(launch)>(
      "MatMul", tensors, reference,
      {.smoke = {.M = 48, .K = 192, .N = 96}, .odd = {.M = 61, .K = 193, .N = 131}});
}
