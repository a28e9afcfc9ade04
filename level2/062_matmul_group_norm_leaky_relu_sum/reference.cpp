#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Linear fc{net["fc"], s.input_size, s.hidden_size};
  GroupNorm gn{net["gn"], s.num_groups, s.hidden_size};
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.input_size}), weights<Network>(s),
                    output<real>("y", {s.batch_size, s.hidden_size})};
}

static Tensor reference(const Sizes&, Tensor x, const Network& n) {
  x = n.fc(x);
  x = n.gn(x);
  x = at::leaky_relu(x, 0.01);
  return x + x;
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-MatMul", tensors, reference,
      {.smoke = {.batch_size = 16, .input_size = 256, .hidden_size = 192, .num_groups = 12},
       .odd = {.batch_size = 7, .input_size = 131, .hidden_size = 105, .num_groups = 7}});
}
