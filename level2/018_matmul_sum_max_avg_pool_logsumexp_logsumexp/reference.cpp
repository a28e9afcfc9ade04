#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Linear linear{net["linear"], s.in_features, s.out_features};
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_features}), weights<Network>(s),
                    output<real>("y", {s.batch_size, 1})};
}

static Tensor reference(const Sizes&, Tensor x, const Network& n) {
  x = n.linear(x);
  x = at::sum(x, 1, /*keepdim=*/true);
  x = std::get<0>(at::max(x, 1, /*keepdim=*/true));
  x = at::mean(x, 1, /*keepdim=*/true);
  x = at::logsumexp(x, 1, /*keepdim=*/true);
  return at::logsumexp(x, 1, /*keepdim=*/true);
}

// The sum over the features may come before the product: of the weights.
static LeastWork least(const Sizes& s) {
  return {.flops = static_cast<double>((s.out_features + 2 * s.batch_size) * s.in_features)};
}

Task kb::task() {
  return define<decltype(launch)>(
             "Fusion-MatMul", tensors, reference,
             {.smoke = {.batch_size = 16, .in_features = 512, .out_features = 48},
              .odd = {.batch_size = 7, .in_features = 131, .out_features = 59}})
      .needing(least);
}
