#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

static Tensor max_pool(const Tensor& x) {
  return at::max_pool2d(x, 3, /*stride=*/1, /*padding=*/1);
}

struct Network {
  Scope net;
  Sizes s;
  Conv2d branch1x1{net["branch1x1"], s.in_channels, s.out_1x1, 1};
  Sequential branch3x3 = Sequential(net["branch3x3"])
                             .add<Conv2d>(s.in_channels, s.reduce_3x3, 1)
                             .add<Conv2d>(s.reduce_3x3, s.out_3x3, 3, ConvOptions{.padding = 1});
  Sequential branch5x5 = Sequential(net["branch5x5"])
                             .add<Conv2d>(s.in_channels, s.reduce_5x5, 1)
                             .add<Conv2d>(s.reduce_5x5, s.out_5x5, 5, ConvOptions{.padding = 2});
  Sequential branch_pool =
      Sequential(net["branch_pool"]).then(max_pool).add<Conv2d>(s.in_channels, s.pool_proj, 1);
};

static auto tensors(const Sizes& s) {
  const int64_t channels = s.out_1x1 + s.out_3x3 + s.out_5x5 + s.pool_proj;
  return std::tuple{input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}),
                    weights<Network>(s),
                    output<real>("y", {s.batch_size, channels, s.height, s.width})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& n) {
  return at::cat({n.branch1x1(x), n.branch3x3(x), n.branch5x5(x), n.branch_pool(x)}, 1);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Arch-CNN", tensors, reference,
      {.smoke = {24, 8, 6, 10, 2, 4, 4, 2, 14, 14}, .odd = {13, 5, 7, 9, 3, 11, 2, 3, 11, 9}});
}
