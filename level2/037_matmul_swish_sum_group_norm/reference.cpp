#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

// Each group has its own offset, so that its mean counts.
static Fill with_offsets(int64_t groups) {
  return [=](Tensor& out, at::Generator& rng) {
    const Tensor offset = at::empty({groups, 1}, out.options()).uniform_(-4, 4, rng);
    out.normal_(0, 0.5, rng).view({groups, -1}).add_(offset);
  };
}

struct Network {
  Scope net;
  Sizes s;
  Parameter bias{net.weight("bias", {s.out_features}, with_offsets(s.num_groups), normal())};
  Linear matmul{net["matmul"], s.in_features, s.out_features};
  GroupNorm group_norm{net["group_norm"], s.num_groups, s.out_features};
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_features}), weights<Network>(s),
                    output<real>("y", {s.batch_size, s.out_features})};
}

static Tensor reference(const Sizes&, Tensor x, const Network& n) {
  x = n.matmul(x);
  x = at::sigmoid(x) * x;
  x = x + n.bias;
  return n.group_norm(x);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-MatMul", tensors, reference,
      {.smoke = {.batch_size = 32, .in_features = 96, .out_features = 256, .num_groups = 8},
       .odd = {.batch_size = 11, .in_features = 75, .out_features = 105, .num_groups = 5}});
}
