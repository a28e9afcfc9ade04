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
  Parameter weight{net.weight("gemm.weight", {s.out_features, s.in_features})};
  Parameter bias{net.weight("gemm.bias", {s.out_features}, with_offsets(s.num_groups),
                            fan_in_uniform(s.in_features))};
  GroupNorm group_norm{net["group_norm"], s.num_groups, s.out_features};
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_features}), weights<Network>(s),
                    output<real>("y", {s.batch_size, s.out_features})};
}

static Tensor reference(const Sizes& s, Tensor x, const Network& n) {
  x = at::linear(x, n.weight, *n.bias);
  x = n.group_norm(x);
  return at::hardtanh(x, s.hardtanh_min, s.hardtanh_max);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-MatMul", tensors, reference,
      {.smoke = {.batch_size = 16, .in_features = 256, .out_features = 192, .num_groups = 6},
       .odd = {.batch_size = 7,
               .in_features = 131,
               .out_features = 105,
               .num_groups = 5,
               .hardtanh_min = -0.75,
               .hardtanh_max = 1.5}});
}
