#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{input<float>("a", {s.K, s.M}), input<float>("b", {s.N, s.K}),
                    output<float>("c", {s.M, s.N})};
}

static Tensor reference(const Sizes&, Tensor a, Tensor b) { return at::matmul(a.t(), b.t()); }

Task kb::task() {
  return define<decltype(launch)>("MatMul", tensors, reference,
                                  {.smoke = {48, 192, 96}, .odd = {61, 193, 131}});
}
