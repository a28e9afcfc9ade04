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
                                  {.smoke = {2, 4, 8, 64, 48}, .odd = {3, 3, 29, 67, 139}});
}
