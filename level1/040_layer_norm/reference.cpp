#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const Shape x = {s.batch_size, s.features, s.dim1, s.dim2}, sample = {s.features, s.dim1, s.dim2};
  return std::tuple{input<real>("x", x),
                    weight<real>("ln.weight", sample).with(normal(1, 0.25)).upstream(constant(1)),
                    weight<real>("ln.bias", sample).with(normal(0, 0.5)).upstream(constant(0)),
                    output<real>("y", x)};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor weight, Tensor bias) {
  return at::layer_norm(x, {s.features, s.dim1, s.dim2}, weight, bias, 1e-5);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Normalization", tensors, reference,
      {.smoke = {.batch_size = 4, .features = 8, .dim1 = 16, .dim2 = 16},
       .odd = {.batch_size = 3, .features = 5, .dim1 = 7, .dim2 = 11}});
}
