#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const Shape shape = {s.batch_size, s.input_shape[0]};
  return std::tuple{input<real>("x", shape).with(normal()), output<real>("y", shape)};
}

static Tensor reference(const Sizes&, Tensor x) { return at::cumsum(x.flip({1}), 1).flip({1}); }

Task kb::task() {
  return define<decltype(launch)>("Reduction-Scan", tensors, reference,
                                  {.smoke = {.batch_size = 32, .input_shape = {512}},
                                   .odd = {.batch_size = 5, .input_shape = {4099}}});
}
