#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.dim1, s.dim2}),
                    output<int64_t>("index", {s.batch_size, s.dim2}).argument("x", 1)};
}

static Tensor reference(const Sizes&, Tensor x) { return at::argmax(x, 1); }

Task kb::task() {
  return define<decltype(launch)>("Reduction-Scan", tensors, reference,
                                  {.smoke = {.batch_size = 16, .dim1 = 11, .dim2 = 255},
                                   .odd = {.batch_size = 3, .dim1 = 613, .dim2 = 37}});
}
