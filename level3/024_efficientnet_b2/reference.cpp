#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

// A convolution without bias. Batch norms over one pixel of two samples make +-1 of whatever
// differs by more than sqrt(eps), and a network of such steps is as chaotic as rounding: gains keep
// most differences in front of them below sqrt(eps), but large enough for the output to show them.
struct Convolution {
  Parameter weight;
  int64_t stride, padding, groups;
  Convolution(const Scope& net, int64_t in, int64_t out, int64_t kernel, double gain,
              int64_t stride = 1, int64_t groups = 1)
      : weight(net.weight("weight", {out, in / groups, kernel, kernel},
                          normal(0, gain / std::sqrt(in / groups * kernel * kernel)),
                          fan_in_uniform(in / groups * kernel * kernel))),
        stride(stride),
        padding(kernel / 2),
        groups(groups) {}
  Tensor operator()(const Tensor& x) const {
    return at::conv2d(x, weight, {}, stride, padding, 1, groups);
  }
};

static Tensor mean_pixel(const Tensor& x) { return at::adaptive_avg_pool2d(x, {1, 1}); }

struct Network {
  Scope net;
  Sizes s;
  int64_t c32 = 32 / s.width_div, c384 = 384 / s.width_div, c1408 = 1408 / s.width_div;
  Convolution conv1{net["conv1"], 3, c32, 3, 1, 2};
  BatchNorm bn1{net["bn1"], c32};
  Sequential mbconv1 = block("mbconv1", 32, 96, 96, 1), mbconv2 = block("mbconv2", 96, 576, 144, 2);
  Sequential mbconv3 = block("mbconv3", 144, 864, 192, 2);
  Sequential mbconv4 = block("mbconv4", 192, 1152, 288, 2);
  Sequential mbconv5 = block("mbconv5", 288, 1728, 384, 1);
  Convolution conv_final{net["conv_final"], c384, c1408, 1, 0.006};
  BatchNorm bn_final{net["bn_final"], c1408};
  Linear fc{net["fc"], c1408, s.num_classes};

  Sequential block(const char* name, int64_t m, int64_t e, int64_t n, int64_t stride) const {
    const int64_t in = m / s.width_div, wide = e / s.width_div, narrow = e / 4 / s.width_div,
                  out = n / s.width_div;
    const bool first = m == 32;  // the only one that sees more than a pixel
    const double gain = first ? 1 : 0.006, spread = first ? 8 : 2;
    return Sequential(net[name])
        .add<Convolution>(in, wide, 1, gain)
        .add<BatchNorm>(wide)
        .then(relu_)
        .add<Convolution>(wide, wide, 3, gain, stride, wide)
        .add<BatchNorm>(wide)
        .then(relu_)
        .then(mean_pixel)
        .add<Convolution>(wide, narrow, 1, 1.0)
        .then(relu_)
        .add<Convolution>(narrow, wide, 1, spread)
        .then(at::sigmoid)
        .add<Convolution>(wide, out, 1, 0.03)
        .add<BatchNorm>(out);
  }
  Tensor operator()(Tensor x) const {
    x = mbconv2(mbconv1(relu_(bn1(conv1(x)))));
    x = mbconv5(mbconv4(mbconv3(x)));
    return fc(at::flatten(mean_pixel(relu_(bn_final(conv_final(x)))), 1));
  }
};

static auto tensors(const Sizes& s) {
  TORCH_CHECK(s.batch_size >= 2,
              "batch_size must be 2 or more: batch norms see one pixel of each sample");
  TORCH_CHECK(1 <= s.width_div && s.width_div <= 16, "width_div must be 1 to 16");
  return std::tuple{input<real>("x", {s.batch_size, 3, s.height, s.width}), weights<Network>(s),
                    output<real>("y", {s.batch_size, s.num_classes})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& net) { return net(x); }

Task kb::task() {
  return define<decltype(launch)>(
      "Arch-CNN", tensors, reference,
      {.smoke = {.batch_size = 2, .height = 16, .width = 16, .num_classes = 10, .width_div = 4},
       .odd = {.batch_size = 3, .height = 21, .width = 27, .num_classes = 7, .width_div = 5}});
}
