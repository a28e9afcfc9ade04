#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const Shape y = {s.batch_size, s.out_features};
  const Fill keep = bernoulli(1 - s.dropout_p);
  // Unscaled rows keep many features relevant to the softmax, and its exponents small.
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_features}).with(normal()),
      input<bool>("mask", y).with(keep).upstream(keep),
      weight<real>("matmul.weight", {s.out_features, s.in_features}),
      weight<real>("matmul.bias", {s.out_features}).upstream(fan_in_uniform(s.in_features)),
      output<real>("y", y)};
}

// Upstream draws the dropout mask inside forward(); here it is an input.
static Tensor reference(const Sizes& s, Tensor x, Tensor mask, Tensor weight, Tensor bias) {
  x = at::linear(x, weight, bias);
  x = x * mask / (1 - s.dropout_p);
  return at::softmax(x, 1);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-MatMul", tensors, reference,
      {.smoke = {.batch_size = 4, .in_features = 128, .out_features = 96},
       .odd = {.batch_size = 7, .in_features = 109, .out_features = 131, .dropout_p = 0.35}});
}
