#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

static ConvOptions conv(int64_t stride, int64_t padding, int64_t groups = 1) {
  return {.stride = stride, .padding = padding, .groups = groups, .bias = false};
}

struct Network {
  Scope net;
  Sizes s;
  Sequential model = layers(net["model"], s);
  Linear fc{net["fc"], width(1024, s), s.num_classes};

  static int64_t width(int64_t n, const Sizes& s) { return static_cast<int64_t>(n * s.alpha); }
  static Sequential layers(const Scope& net, const Sizes& s) {
    int64_t in = width(32, s), number = 0;
    Sequential all(net);
    all.then(Sequential(net[number])
                 .add<Conv2d>(s.input_channels, in, 3, conv(2, 1))
                 .add<BatchNorm>(in)
                 .then(relu_));
    for (const auto& [n, stride] : std::initializer_list<std::pair<int64_t, int64_t>>{{64, 1},
                                                                                      {128, 2},
                                                                                      {128, 1},
                                                                                      {256, 2},
                                                                                      {256, 1},
                                                                                      {512, 2},
                                                                                      {512, 1},
                                                                                      {512, 1},
                                                                                      {512, 1},
                                                                                      {512, 1},
                                                                                      {512, 1},
                                                                                      {1024, 2},
                                                                                      {1024, 1}}) {
      const int64_t out = width(n, s);
      all.then(Sequential(net[++number])
                   .add<Conv2d>(in, in, 3, conv(stride, 1, in))
                   .add<BatchNorm>(in)
                   .then(relu_)
                   .add<Conv2d>(in, out, 1, conv(1, 0))
                   .add<BatchNorm>(out)
                   .then(relu_));
      in = out;
    }
    return all.then([](const Tensor& x) { return at::avg_pool2d(x, 7); });
  }
};

static auto tensors(const Sizes& s) {
  for (const int64_t extent : {s.height, s.width}) {
    TORCH_CHECK(193 <= extent && extent <= 416,
                "height and width must be 193 to 416: 7 to 13 pixels have to be left");
  }
  return std::tuple{input<real>("x", {s.batch_size, s.input_channels, s.height, s.width}),
                    weights<Network>(s), output<real>("y", {s.batch_size, s.num_classes})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& n) {
  const Tensor features = n.model(x);
  return n.fc(features.view({features.size(0), -1}));
}

Task kb::task() {
  return define<decltype(launch)>("Arch-CNN", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .input_channels = 3,
                                             .height = 224,
                                             .width = 224,
                                             .num_classes = 10,
                                             .alpha = 0.125},
                                   .odd = {.batch_size = 3,
                                           .input_channels = 5,
                                           .height = 225,
                                           .width = 193,
                                           .num_classes = 7,
                                           .alpha = 0.08}});
}
