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
  return define<decltype(launch)>("Arch-CNN", tensors, reference,
                                  {.smoke = {.in_channels = 24,
                                             .out_1x1 = 8,
                                             .reduce_3x3 = 6,
                                             .out_3x3 = 10,
                                             .reduce_5x5 = 2,
                                             .out_5x5 = 4,
                                             .pool_proj = 4,
                                             .batch_size = 2,
                                             .height = 14,
                                             .width = 14},
                                   .odd = {.in_channels = 13,
                                           .out_1x1 = 5,
                                           .reduce_3x3 = 7,
                                           .out_3x3 = 9,
                                           .reduce_5x5 = 3,
                                           .out_5x5 = 11,
                                           .pool_proj = 2,
                                           .batch_size = 3,
                                           .height = 11,
                                           .width = 9}});
}
