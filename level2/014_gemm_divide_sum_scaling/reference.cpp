#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.input_size}),
                    weight<real>("weight", {s.hidden_size, s.input_size}).upstream(normal()),
                    output<real>("y", {s.batch_size, 1})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor weight) {
  x = at::matmul(x, weight.t());
  x = x / 2;
  x = at::sum(x, 1, /*keepdim=*/true);
  return x * s.scaling_factor;
}

// The sum over the features may come before the product: of the weights.
static LeastWork least(const Sizes& s) {
  return {.flops = static_cast<double>((s.hidden_size + 2 * s.batch_size) * s.input_size)};
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-MatMul", tensors, reference,
                                  {.smoke = {.batch_size = 16,
                                             .input_size = 256,
                                             .hidden_size = 192,
                                             .scaling_factor = 4},
                                   .odd = {.batch_size = 7,
                                           .input_size = 131,
                                           .hidden_size = 109,
                                           .scaling_factor = -0.7}})
      .needing(least);
}
