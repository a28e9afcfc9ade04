#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.dim1, s.dim2}),
                    output<real>("y", {s.batch_size, s.dim2})};
}

static Tensor reference(const Sizes&, Tensor x) { return at::mean(x, 1); }

Task kb::task() {
  return define<decltype(launch)>("Reduction-Scan", tensors, reference,
                                  {.smoke = {.batch_size = 4, .dim1 = 256, .dim2 = 255},
                                   .odd = {.batch_size = 3, .dim1 = 613, .dim2 = 37}});
}
