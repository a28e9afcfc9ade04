#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

// Every feature has its own offset, so that its mean counts.
static void with_offsets(at::Tensor& x, at::Generator& rng) {
  spiked()(x, rng);
  x.add_(at::empty({1, x.size(1), 1, 1}, x.options()).uniform_(-8, 8, rng));
}

static auto tensors(const Sizes& s) {
  const Shape x = {s.batch_size, s.features, s.dim1, s.dim2}, feature = {s.features};
  return std::tuple{input<real>("x", x).with(with_offsets), weight<real>("gn.weight", feature),
                    weight<real>("gn.bias", feature), output<real>("y", x)};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor weight, Tensor bias) {
  return at::group_norm(x, s.num_groups, weight, bias, 1e-5);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Normalization", tensors, reference,
      {.smoke = {.batch_size = 7, .features = 16, .num_groups = 4, .dim1 = 16, .dim2 = 16},
       .odd = {.batch_size = 3, .features = 15, .num_groups = 5, .dim1 = 7, .dim2 = 11}});
}
