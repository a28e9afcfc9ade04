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
  return define<decltype(launch)>("Arch-CNN", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .num_input_features = 3,
                                             .height = 16,
                                             .width = 16,
                                             .squeeze_channels = 3,
                                             .expand1x1_channels = 8,
                                             .expand3x3_channels = 8},
                                   .odd = {.batch_size = 3,
                                           .num_input_features = 5,
                                           .height = 13,
                                           .width = 19,
                                           .squeeze_channels = 7,
                                           .expand1x1_channels = 34,
                                           .expand3x3_channels = 11}});
}
