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
      input<real>("x", {s.batch_size, s.in_features}),
      weight<real>("matmul.weight", {s.out_features, s.in_features}).with(alike),
      weight<real>("matmul.bias", {s.out_features}).upstream(fan_in_uniform(s.in_features)),
      output<real>("y", {s.batch_size})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor weight, Tensor bias) {
  x = at::linear(x, weight, bias);
  x = at::max_pool1d(x.unsqueeze(1), s.kernel_size).squeeze(1);
  x = at::sum(x, 1);
  return x * s.scale_factor;
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-MatMul", tensors, reference,
      {.smoke = {.batch_size = 16, .in_features = 256, .out_features = 192},
       .odd = {.batch_size = 7,
               .in_features = 131,
               .out_features = 109,
               .kernel_size = 3,
               .scale_factor = -0.7}});
}
