#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

// Every column has its own offset: no maximum can stand in for another, and many are negative.
static void with_offsets(at::Tensor& x, at::Generator& rng) {
  normal()(x, rng);
  x.add_(at::empty({x.size(0), 1, x.size(2)}, x.options()).uniform_(-16, 16, rng));
}

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.dim1, s.dim2}).with(with_offsets),
                    output<real>("y", {s.batch_size, s.dim2})};
}

static Tensor reference(const Sizes&, Tensor x) { return std::get<0>(at::max(x, 1)); }

Task kb::task() {
  return define<decltype(launch)>("Reduction-Scan", tensors, reference,
                                  {.smoke = {.batch_size = 16, .dim1 = 11, .dim2 = 255},
                                   .odd = {.batch_size = 3, .dim1 = 613, .dim2 = 37}});
}
