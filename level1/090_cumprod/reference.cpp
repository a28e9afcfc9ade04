#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

// Factors of magnitude 1 +- 2^-7 and random sign: products neither vanish nor overflow along a row.
static void near_one(at::Tensor& x, at::Generator& rng) {
  x.uniform_(-0x1p-6, 0x1p-6, rng);
  x.add_(at::copysign(at::full({}, 1 - 0x1p-7, x.options()), x));
}

static auto tensors(const Sizes& s) {
  const Shape shape = {s.batch_size, s.input_shape[0]};
  return std::tuple{input<real>("x", shape).with(near_one), output<real>("y", shape)};
}

static Tensor reference(const Sizes&, Tensor x) { return at::cumprod(x, 1); }

Task kb::task() {
  return define<decltype(launch)>("Reduction-Scan", tensors, reference,
                                  {.smoke = {.batch_size = 32, .input_shape = {512}},
                                   .odd = {.batch_size = 5, .input_shape = {1021}}});
}
