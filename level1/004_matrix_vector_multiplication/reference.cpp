#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("a", {s.M, s.K}), input<real>("b", {s.K, 1}),
                    output<real>("c", {s.M, 1})};
}

static Tensor reference(const Sizes&, Tensor a, Tensor b) { return at::matmul(a, b); }

Task kb::task() {
  return define<decltype(launch)>("MatMul", tensors, reference,
                                  {.smoke = {.M = 64, .K = 4096}, .odd = {.M = 37, .K = 4099}});
}
