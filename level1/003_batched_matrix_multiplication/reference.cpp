#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("a", {s.batch_size, s.m, s.k}),
                    input<real>("b", {s.batch_size, s.k, s.n}),
                    output<real>("c", {s.batch_size, s.m, s.n})};
}

static Tensor reference(const Sizes&, Tensor a, Tensor b) { return at::bmm(a, b); }

Task kb::task() {
  return define<decltype(launch)>("MatMul", tensors, reference,
                                  {.smoke = {.batch_size = 4, .m = 32, .k = 64, .n = 128},
                                   .odd = {.batch_size = 3, .m = 131, .k = 61, .n = 137}});
}
