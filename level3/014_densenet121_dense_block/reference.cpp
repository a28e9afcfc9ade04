#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  std::vector<Sequential> layers = make();

  std::vector<Sequential> make() const {
    std::vector<Sequential> all;
    for (int64_t i = 0; i < s.num_layers; ++i) {
      const int64_t in = s.num_input_features + i * s.growth_rate;
      all.push_back(
          Sequential(net["layers"][i])
              .add<BatchNorm>(in)
              .then(relu_)
              .add<Conv2d>(in, s.growth_rate, 3, ConvOptions{.padding = 1, .bias = false}));
    }
    return all;
  }
  Tensor operator()(Tensor x) const {
    std::vector<Tensor> features = {x};
    for (const Sequential& layer : layers) {
      features.push_back(layer(x));
      x = at::cat(features, 1);
    }
    return x;
  }
};

static auto tensors(const Sizes& s) {
  return std::tuple{
      input<real>("x", {s.batch_size, s.num_input_features, s.height, s.width}),
      weights<Network>(s),
      output<real>("y", {s.batch_size, s.num_input_features + s.num_layers * s.growth_rate,
                         s.height, s.width})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& net) { return net(x); }

Task kb::task() {
  return define<decltype(launch)>("Arch-CNN", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .num_layers = 6,
                                             .num_input_features = 8,
                                             .growth_rate = 8,
                                             .height = 14,
                                             .width = 14},
                                   .odd = {.batch_size = 3,
                                           .num_layers = 3,
                                           .num_input_features = 5,
                                           .growth_rate = 7,
                                           .height = 11,
                                           .width = 9}});
}
