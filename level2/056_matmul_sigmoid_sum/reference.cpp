#include "task.h"
#include <kb/reference.h>
#include <cmath>
using namespace kb;
using namespace task;

// Rows that have a part in common, or the sum over the features would hardly depend on x.
static void alike(Tensor& out, at::Generator& rng) {
  const double stddev = 1 / std::sqrt(out.size(1));
  out.normal_(0, stddev, rng);
  out.add_(at::empty({1, out.size(1)}, out.options()).normal_(0, stddev, rng));
}

static auto tensors(const Sizes& s) {
  return std::tuple{
      input<real>("x", {s.batch_size, s.input_size}).with(normal()),
      weight<real>("linear.weight", {s.hidden_size, s.input_size}).with(alike),
      weight<real>("linear.bias", {s.hidden_size}).upstream(fan_in_uniform(s.input_size)),
      output<real>("y", {s.batch_size, 1})};
}

static Tensor reference(const Sizes&, Tensor x, Tensor weight, Tensor bias) {
  x = at::linear(x, weight, bias);
  x = at::sigmoid(x);
  return at::sum(x, 1, /*keepdim=*/true);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-MatMul", tensors, reference,
      {.smoke = {.batch_size = 16, .input_size = 256, .hidden_size = 192},
       .odd = {.batch_size = 7, .input_size = 131, .hidden_size = 109}});
}
