#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

// Values that keep the signal alive behind narrow layers with relu.
struct Convolution {
  Parameter weight, bias;
  int64_t stride, padding;
  Convolution(const Scope& net, int64_t in, int64_t out, int64_t kernel, int64_t stride,
              int64_t padding)
      : stride(stride), padding(padding) {
    const int64_t fan_in = in * kernel * kernel;
    weight = net.weight("weight", {out, in, kernel, kernel}, normal(0, std::sqrt(2.0 / fan_in)),
                        fan_in_uniform(fan_in));
    bias = net.weight("bias", {out}, uniform(0, 0.3), fan_in_uniform(fan_in));
  }
  Tensor operator()(const Tensor& x) const { return at::conv2d(x, weight, *bias, stride, padding); }
};

struct Fire {
  Scope net;
  int64_t in, width, out;
  Convolution squeeze{net["squeeze"], in, width, 1, 1, 0};
  Convolution expand1x1{net["expand1x1"], width, out, 1, 1, 0};
  Convolution expand3x3{net["expand3x3"], width, out, 3, 1, 1};
  Tensor operator()(const Tensor& x) const {
    const Tensor narrow = relu_(squeeze(x));
    return at::cat({relu_(expand1x1(narrow)), relu_(expand3x3(narrow))}, 1);
  }
};

static Tensor pool(const Tensor& x) {
  return at::max_pool2d(x, 3, /*stride=*/2, /*padding=*/0, /*dilation=*/1, /*ceil_mode=*/true);
}

struct Network {
  Scope net;
  Sizes s;
  Sequential features = layers(net["features"], s);
  Convolution classifier{net["classifier"][1], 2 * (256 / s.width_div), s.num_classes, 1, 1, 0};

  static Sequential layers(const Scope& net, const Sizes& s) {
    const auto c = [&](int64_t n) { return n / s.width_div; };
    return Sequential(net)
        .add<Convolution>(int64_t{3}, c(96), 7, 2, 0)
        .then(relu_)
        .then(pool)
        .add<Fire>(c(96), c(16), c(64))
        .add<Fire>(2 * c(64), c(16), c(64))
        .add<Fire>(2 * c(64), c(32), c(128))
        .then(pool)
        .add<Fire>(2 * c(128), c(32), c(128))
        .add<Fire>(2 * c(128), c(48), c(192))
        .add<Fire>(2 * c(192), c(48), c(192))
        .add<Fire>(2 * c(192), c(64), c(256))
        .then(pool)
        .add<Fire>(2 * c(256), c(64), c(256));
  }
  Tensor operator()(Tensor x) const {
    x = relu_(classifier(features(x)));
    return at::flatten(at::adaptive_avg_pool2d(x, {1, 1}), 1);
  }
};

static auto tensors(const Sizes& s) {
  TORCH_CHECK(1 <= s.width_div && s.width_div <= 16, "width_div must be 1 to 16");
  return std::tuple{input<real>("x", {s.batch_size, 3, s.height, s.width}), weights<Network>(s),
                    output<real>("y", {s.batch_size, s.num_classes})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& net) { return net(x); }

Task kb::task() {
  return define<decltype(launch)>(
      "Arch-CNN", tensors, reference,
      {.smoke = {.batch_size = 2, .height = 64, .width = 64, .num_classes = 10, .width_div = 4},
       .odd = {.batch_size = 3, .height = 57, .width = 43, .num_classes = 7, .width_div = 5}});
}
