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

// Wide enough that some features exceed subtract_value, which upstream's never do.
static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_features}).with(normal(0, 4)),
                    weights<Network>(s), output<real>("y", {s.batch_size, s.out_features})};
}

static Tensor reference(const Sizes& s, Tensor x, const Network& n) {
  x = n.linear(x);
  x = x - s.subtract_value;
  x = x * s.multiply_value;
  return at::relu(x);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-MatMul", tensors, reference,
      {.smoke = {.batch_size = 16, .in_features = 256, .out_features = 192, .subtract_value = 0.25},
       .odd = {.batch_size = 7,
               .in_features = 131,
               .out_features = 109,
               .subtract_value = 0.75,
               .multiply_value = -1.25}});
}
