#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

// The biases are so low that logsumexp is about 0 in some rows: elsewhere Mish is the identity.
static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.input_size}),
                    weight<real>("matmul.weight", {s.hidden_size, s.input_size}),
                    weight<real>("matmul.bias", {s.hidden_size})
                        .with(normal(-2.5, 0.75))
                        .upstream(fan_in_uniform(s.input_size)),
                    output<real>("y", {s.batch_size, 1})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor weight, Tensor bias) {
  x = at::linear(x, weight, bias);
  x = x * s.scale_factor;
  x = x + x;
  x = at::clamp(x, s.clamp_min, s.clamp_max);
  x = at::logsumexp(x, 1, /*keepdim=*/true);
  return x * at::mish(x);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-MatMul", tensors, reference,
      {.smoke = {.batch_size = 16, .input_size = 256, .hidden_size = 192},
       .odd = {.batch_size = 11,
               .input_size = 131,
               .hidden_size = 109,
               .scale_factor = 0.75,
               .clamp_min = -5,
               .clamp_max = 3}});
}
