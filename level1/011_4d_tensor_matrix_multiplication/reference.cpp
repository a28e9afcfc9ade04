#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("a", {s.b, s.i, s.j, s.l}), input<real>("b", {s.l, s.k}),
                    output<real>("c", {s.b, s.i, s.j, s.k})};
}

static Tensor reference(const Sizes&, Tensor a, Tensor b) {
  return at::einsum("bijl,lk->bijk", {a, b});
}

Task kb::task() {
  return define<decltype(launch)>("MatMul", tensors, reference,
                                  {.smoke = {.b = 2, .i = 4, .j = 8, .l = 64, .k = 48},
                                   .odd = {.b = 3, .i = 3, .j = 29, .l = 67, .k = 139}});
}
