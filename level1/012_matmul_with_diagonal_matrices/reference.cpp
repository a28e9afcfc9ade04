#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("a", {s.N}), input<real>("b", {s.N, s.M}),
                    output<real>("c", {s.N, s.M})};
}

static Tensor reference(const Sizes&, Tensor a, Tensor b) { return a.unsqueeze(1) * b; }

Task kb::task() {
  return define<decltype(launch)>("MatMul", tensors, reference,
                                  {.smoke = {.M = 48, .N = 64}, .odd = {.M = 131, .N = 61}});
}
