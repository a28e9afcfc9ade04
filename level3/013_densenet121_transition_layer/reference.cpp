#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Sequential transition =
      Sequential(net["transition"])
          .add<BatchNorm>(s.num_input_features)
          .then(relu_)
          .add<Conv2d>(s.num_input_features, s.num_output_features, 1, ConvOptions{.bias = false})
          .then([](const Tensor& x) { return at::avg_pool2d(x, 2, 2); });
};

static auto tensors(const Sizes& s) {
  return std::tuple{
      input<real>("x", {s.batch_size, s.num_input_features, s.height, s.width}),
      weights<Network>(s),
      output<real>("y", {s.batch_size, s.num_output_features, s.height / 2, s.width / 2})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& n) { return n.transition(x); }

Task kb::task() {
  return define<decltype(launch)>("Arch-CNN", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .num_input_features = 8,
                                             .num_output_features = 16,
                                             .height = 16,
                                             .width = 16},
                                   .odd = {.batch_size = 3,
                                           .num_input_features = 5,
                                           .num_output_features = 7,
                                           .height = 13,
                                           .width = 19}});
}
