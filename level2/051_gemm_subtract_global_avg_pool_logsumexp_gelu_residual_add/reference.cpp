#include "task.h"
#include <kb/reference.h>
#include <cmath>
using namespace kb;
using namespace task;

// Rows that have a part in common, or the mean over the features would hardly depend on x.
static void alike(Tensor& out, at::Generator& rng) {
  const double stddev = 1 / std::sqrt(out.size(1));
  out.normal_(0, stddev, rng);
  out.add_(at::empty({1, out.size(1)}, out.options()).normal_(0, stddev, rng));
}

static auto tensors(const Sizes& s) {
  const Shape x = {s.batch_size, s.in_features}, feature = {s.out_features};
  // Both vectors have a mean, which is all that counts of them.
  return std::tuple{input<real>("x", x),
                    weight<real>("subtract", feature).with(normal(0.5, 1)).upstream(normal()),
                    weight<real>("gemm.weight", {s.out_features, s.in_features}).with(alike),
                    weight<real>("gemm.bias", feature)
                        .with(normal(1, 0.5))
                        .upstream(fan_in_uniform(s.in_features)),
                    output<real>("y", x)};
}

static Tensor reference(const Sizes&, Tensor x, Tensor subtract, Tensor weight, Tensor bias) {
  const Tensor original = x.clone();
  x = at::linear(x, weight, bias);
  x = x - subtract;
  x = at::mean(x, 1, /*keepdim=*/true);
  x = at::logsumexp(x, 1, /*keepdim=*/true);
  x = at::gelu(x);
  return x + original;
}

// The mean over the features may come before the product: of the weights.
static LeastWork least(const Sizes& s) {
  return {.flops = static_cast<double>((s.out_features + 2 * s.batch_size) * s.in_features)};
}

Task kb::task() {
  return define<decltype(launch)>(
             "Fusion-MatMul", tensors, reference,
             {.smoke = {.batch_size = 16, .in_features = 256, .out_features = 192},
              .odd = {.batch_size = 7, .in_features = 131, .out_features = 109}})
      .needing(least);
}
