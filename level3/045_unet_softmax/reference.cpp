#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
#include <cmath>
using namespace kb;
using namespace task;

// Softmax leaves values of about 1 / width. Weights grow by it, so that neither the eps of batch
// norms nor biases hide them.
struct Convolution {
  Parameter weight, bias;
  int64_t padding;
  Convolution(const Scope& at, int64_t in, int64_t out, int64_t kernel, int64_t growth)
      : padding(kernel / 2) {
    const int64_t fan_in = in * kernel * kernel;
    weight = at.weight("weight", {out, in, kernel, kernel}, normal(0, growth / std::sqrt(fan_in)),
                       fan_in_uniform(fan_in));
    bias = at.weight("bias", {out}, normal(0, 0.5), fan_in_uniform(fan_in));
  }
  Tensor operator()(const Tensor& x) const {
    return at::conv2d(x, weight, *bias, /*stride=*/1, at::IntArrayRef(padding));
  }
};

struct UpConv {
  Parameter weight, bias;
  UpConv(const Scope& at, int64_t in, int64_t width)
      : weight(at.weight("weight", {in, in / 2, 2, 2})),
        bias(at.weight("bias", {in / 2}, normal(0, 0.5 / width), fan_in_uniform(in * 2))) {}
  Tensor operator()(const Tensor& x) const {
    return at::conv_transpose2d(x, weight, *bias, /*stride=*/2);
  }
};

static Sequential double_conv(const Scope& net, int64_t in, int64_t out, int64_t growth,
                              int64_t width) {
  const auto softmax = [](const Tensor& x) { return at::softmax(x, -1); };
  return Sequential(net["double_conv"])
      .add<Convolution>(in, out, 3, growth)
      .add<BatchNorm>(out)
      .then(softmax)
      .add<Convolution>(out, out, 3, width)
      .add<BatchNorm>(out)
      .then(softmax);
}

static Tensor pool(const Tensor& x) { return at::max_pool2d(x, 2, 2); }
static Tensor concat(const Tensor& a, const Tensor& b) { return at::cat({a, b}, 1); }

struct UNet {
  Scope net;
  Sizes s;
  int64_t f = s.features, w = s.width;
  Sequential encoder1 = double_conv(net["encoder1"], s.in_channels, f, 1, w);
  Sequential encoder2 = double_conv(net["encoder2"], f, 2 * f, w, w / 2);
  Sequential encoder3 = double_conv(net["encoder3"], 2 * f, 4 * f, w / 2, w / 4);
  Sequential encoder4 = double_conv(net["encoder4"], 4 * f, 8 * f, w / 4, w / 8);
  Sequential bottleneck = double_conv(net["bottleneck"], 8 * f, 16 * f, w / 8, w / 16);
  UpConv upconv4{net["upconv4"], 16 * f, w / 8};
  Sequential decoder4 = double_conv(net["decoder4"], 16 * f, 8 * f, w / 8, w / 8);
  UpConv upconv3{net["upconv3"], 8 * f, w / 4};
  Sequential decoder3 = double_conv(net["decoder3"], 8 * f, 4 * f, w / 4, w / 4);
  UpConv upconv2{net["upconv2"], 4 * f, w / 2};
  Sequential decoder2 = double_conv(net["decoder2"], 4 * f, 2 * f, w / 2, w / 2);
  UpConv upconv1{net["upconv1"], 2 * f, w};
  Sequential decoder1 = double_conv(net["decoder1"], 2 * f, f, w, w);
  Convolution final_conv{net["final_conv"], f, s.out_channels, 1, w};
  Tensor operator()(const Tensor& x) const {
    const Tensor e1 = encoder1(x), e2 = encoder2(pool(e1)), e3 = encoder3(pool(e2)),
                 e4 = encoder4(pool(e3));
    Tensor t = bottleneck(pool(e4));
    t = decoder4(concat(upconv4(t), e4));
    t = decoder3(concat(upconv3(t), e3));
    t = decoder2(concat(upconv2(t), e2));
    t = decoder1(concat(upconv1(t), e1));
    return final_conv(t);
  }
};

static auto tensors(const Sizes& s) {
  TORCH_CHECK(s.height % 16 == 0 && s.width % 16 == 0,
              "height and width must be multiples of 16: four pools halve them");
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}).with(normal()),
      weights<UNet>(s), output<real>("y", {s.batch_size, s.out_channels, s.height, s.width})};
}

static Tensor reference(const Sizes&, const Tensor& x, const UNet& net) { return net(x); }

Task kb::task() {
  return define<decltype(launch)>("Arch-CNN", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 4,
                                             .out_channels = 4,
                                             .height = 32,
                                             .width = 64,
                                             .features = 2},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 3,
                                           .out_channels = 5,
                                           .height = 48,
                                           .width = 48,
                                           .features = 3}});
}
