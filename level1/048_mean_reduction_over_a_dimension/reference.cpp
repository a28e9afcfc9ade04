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
                                  {.smoke = {4, 256, 255}, .odd = {3, 613, 37}});
}
