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
  return define<decltype(launch)>("MatMul", tensors, reference,
                                  {.smoke = {2, 32, 128, 48}, .odd = {3, 47, 67, 139}});
}
