#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  BatchNorm bn{net["bn"], s.features};
};

// Every feature has its own offset, so that its mean counts.
static void with_offsets(at::Tensor& x, at::Generator& rng) {
  spiked()(x, rng);
  x.add_(at::empty({1, x.size(1), 1, 1}, x.options()).uniform_(-8, 8, rng));
}

static auto tensors(const Sizes& s) {
  const Shape x = {s.batch_size, s.features, s.dim1, s.dim2};
  return std::tuple{input<real>("x", x).with(with_offsets), weights<Network>(s),
                    output<real>("y", x)};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& net) { return net.bn(x); }

Task kb::task() {
  return define<decltype(launch)>(
      "Normalization", tensors, reference,
      {.smoke = {.batch_size = 4, .features = 8, .dim1 = 16, .dim2 = 16},
       .odd = {.batch_size = 3, .features = 5, .dim1 = 7, .dim2 = 11}});
}
