#include "task.h"
#include <kb/reference.h>
#include <cmath>
using namespace kb;
using namespace task;

// Rows whose deviations grow from 1/4 to 4.
static void with_scales(at::Tensor& x, at::Generator& rng) {
  x.normal_(0, 1, rng);
  x.mul_(at::linspace(-2, 2, x.size(0), x.options()).exp2_().unsqueeze(1));
}

// The biases are so low that logsumexp is on both sides of zero: elsewhere leaky ReLU and, where it
// is large, GELU are the identity.
static auto tensors(const Sizes& s) {
  const double low = -0.5 - std::log(static_cast<double>(s.out_features));
  return std::tuple{input<real>("x", {s.batch_size, s.in_features}).with(with_scales),
                    weight<real>("linear.weight", {s.out_features, s.in_features}),
                    weight<real>("linear.bias", {s.out_features})
                        .with(normal(low, 0.5))
                        .upstream(fan_in_uniform(s.in_features)),
                    output<real>("y", {s.batch_size, 1})};
}

static Tensor reference(const Sizes&, Tensor x, Tensor weight, Tensor bias) {
  x = at::linear(x, weight, bias);
  x = at::logsumexp(x, 1, /*keepdim=*/true);
  x = at::leaky_relu(x, 0.01);
  x = at::leaky_relu(x, 0.01);
  x = at::gelu(x);
  return at::gelu(x);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-MatMul", tensors, reference,
      {.smoke = {.batch_size = 16, .in_features = 256, .out_features = 192},
       .odd = {.batch_size = 7, .in_features = 131, .out_features = 109}});
}
