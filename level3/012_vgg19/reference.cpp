#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Sequential features = convolutions(net["features"], s), classifier = layers(net["classifier"], s);

  static Sequential convolutions(const Scope& net, const Sizes& s) {
    Sequential all(net);
    int64_t in = 3;
    for (const auto& [count, width] : {std::pair{2, 64}, std::pair{2, 128}, std::pair{4, 256},
                                       std::pair{4, 512}, std::pair{4, 512}}) {
      for (int i = 0; i < count; ++i) {
        all.add<Conv2d>(in, width / s.width_div, 3, ConvOptions{.padding = 1}).then(relu_);
        in = width / s.width_div;
      }
      all.then([](const Tensor& x) { return at::max_pool2d(x, 2, 2); });
    }
    return all;
  }
  static Sequential layers(const Scope& net, const Sizes& s) {
    const auto dropout = [](const Tensor& x) { return x; };  // with probability 0
    const int64_t width = 4096 / s.width_div;
    return Sequential(net)
        .add<Linear>(512 / s.width_div * 7 * 7, width)
        .then(relu_)
        .then(dropout)
        .add<Linear>(width, width)
        .then(relu_)
        .then(dropout)
        .add<Linear>(width, s.num_classes);
  }
};

static auto tensors(const Sizes& s) {
  TORCH_CHECK(1 <= s.width_div && s.width_div <= 64, "width_div must be 1 to 64");
  return std::tuple{input<real>("x", {s.batch_size, 3, 224, 224}), weights<Network>(s),
                    output<real>("y", {s.batch_size, s.num_classes})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& n) {
  return n.classifier(at::flatten(n.features(x), 1));
}

Task kb::task() {
  return define<decltype(launch)>("Arch-CNN", tensors, reference,
                                  {.smoke = {.batch_size = 1, .num_classes = 10, .width_div = 32},
                                   .odd = {.batch_size = 2, .num_classes = 7, .width_div = 64}});
}
