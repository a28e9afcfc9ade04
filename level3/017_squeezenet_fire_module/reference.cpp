#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Conv2d squeeze{net["squeeze"], s.num_input_features, s.squeeze_channels, 1};
  Conv2d expand1x1{net["expand1x1"], s.squeeze_channels, s.expand1x1_channels, 1};
  Conv2d expand3x3{net["expand3x3"], s.squeeze_channels, s.expand3x3_channels, 3, {.padding = 1}};
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.num_input_features, s.height, s.width}),
                    weights<Network>(s),
                    output<real>("y", {s.batch_size, s.expand1x1_channels + s.expand3x3_channels,
                                       s.height, s.width})};
}

static Tensor reference(const Sizes&, Tensor x, const Network& n) {
  x = relu_(n.squeeze(x));
  return at::cat({relu_(n.expand1x1(x)), relu_(n.expand3x3(x))}, 1);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Arch-CNN", tensors, reference,
      {.smoke = {2, 3, 16, 16, 3, 8, 8}, .odd = {3, 5, 13, 19, 7, 34, 11}});
}
