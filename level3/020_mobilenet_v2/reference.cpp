#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

// A convolution without bias. Upstream draws its weights anew, by what they lead to.
struct Convolution {
  Parameter weight;
  int64_t stride, padding, groups;
  Convolution(const Scope& net, int64_t in, int64_t out, int64_t kernel, int64_t stride,
              int64_t groups)
      : weight(net.weight("weight", {out, in / groups, kernel, kernel},
                          fan_in_normal(in / groups * kernel * kernel),
                          normal(0, std::sqrt(2.0 / (out * kernel * kernel))))),
        stride(stride),
        padding(kernel / 2),
        groups(groups) {}
  Tensor operator()(const Tensor& x) const {
    return at::conv2d(x, weight, {}, stride, padding, 1, groups);
  }
};

struct Network {
  Scope net;
  Sizes s;
  Sequential features = layers(net["features"], s);
  Parameter weight =
      net["classifier"][1].weight("weight", {s.num_classes, 1280 / s.width_div},
                                  fan_in_normal(1280 / s.width_div), normal(0, 0.01));
  Parameter bias =
      net["classifier"][1].weight("bias", {s.num_classes}, normal(0, 0.5), normal(0, 0));

  static Sequential block(const Scope& net, int64_t in, int64_t hidden, int64_t out,
                          int64_t stride) {
    Sequential all(net);
    if (hidden != in) all.add<Convolution>(in, hidden, 1, 1, 1).add<BatchNorm>(hidden).then(relu6_);
    return all.add<Convolution>(hidden, hidden, 3, stride, hidden)
        .add<BatchNorm>(hidden)
        .then(relu6_)
        .add<Convolution>(hidden, out, 1, 1, 1)
        .add<BatchNorm>(out);
  }
  static Sequential layers(const Scope& net, const Sizes& s) {
    const auto c = [&](int64_t n) { return n / s.width_div; };
    Sequential all(net);
    all.add<Convolution>(3, c(32), 3, 2, 1).add<BatchNorm>(c(32)).then(relu6_);
    int64_t in = 32, number = 3;
    for (const auto& [expand, out, count, stride] :
         std::initializer_list<std::array<int64_t, 4>>{{1, 16, 1, 1},
                                                       {6, 24, 2, 2},
                                                       {6, 32, 3, 2},
                                                       {6, 64, 4, 2},
                                                       {6, 96, 3, 1},
                                                       {6, 160, 3, 2},
                                                       {6, 320, 1, 1}}) {
      for (int64_t i = 0; i < count; ++i, in = out) {
        all.then(block(net[number++], c(in), c(in * expand), c(out), i == 0 ? stride : 1));
      }
    }
    return all.add<Convolution>(c(320), c(1280), 1, 1, 1).add<BatchNorm>(c(1280)).then(relu6_);
  }
  Tensor operator()(Tensor x) const {
    x = at::adaptive_avg_pool2d(features(x), {1, 1});
    return at::linear(x.view({x.size(0), -1}), weight, *bias);
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
      {.smoke = {.batch_size = 4, .height = 64, .width = 64, .num_classes = 10, .width_div = 16},
       .odd = {.batch_size = 3, .height = 69, .width = 75, .num_classes = 7, .width_div = 8}});
}
