#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

static Tensor normalised(const Tensor& x) {
  return x / at::linalg_vector_norm(x, 2, 1, /*keepdim=*/true).clamp_min(1e-12).expand_as(x);
}

struct Network {
  Scope net;
  Sizes s;
  int64_t columns = s.num_clusters + s.ghost_clusters;
  Parameter clusters = net.weight("clusters", {s.feature_size, columns},
                                  fan_in_normal(s.feature_size), fan_in_normal(s.feature_size));
  Parameter clusters2 = net.weight("clusters2", {1, s.feature_size, s.num_clusters}, normal(),
                                   fan_in_normal(s.feature_size));
  BatchNorm batch_norm{net["batch_norm"], columns};
  Tensor operator()(Tensor x) const {
    Tensor a = batch_norm(at::matmul(x.view({-1, s.feature_size}), clusters));
    a = at::softmax(a, 1).slice(1, 0, s.num_clusters);
    a = a.reshape({-1, s.num_features, s.num_clusters});
    const Tensor center = at::sum(a, 1, /*keepdim=*/true) * *clusters2;
    const Tensor sums = at::matmul(a.transpose(1, 2), x.view({-1, s.num_features, s.feature_size}));
    const Tensor v = normalised(sums.transpose(1, 2) - center);
    return normalised(v.reshape({-1, s.num_clusters * s.feature_size}));
  }
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.num_features, s.feature_size}),
                    weights<Network>(s),
                    output<real>("y", {s.batch_size, s.feature_size * s.num_clusters})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& net) { return net(x); }

Task kb::task() {
  return define<decltype(launch)>("Arch-CNN", tensors, reference,
                                  {.smoke = {.batch_size = 4,
                                             .num_features = 10,
                                             .num_clusters = 8,
                                             .feature_size = 32,
                                             .ghost_clusters = 4},
                                   .odd = {.batch_size = 3,
                                           .num_features = 13,
                                           .num_clusters = 7,
                                           .feature_size = 37,
                                           .ghost_clusters = 5}});
}
