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
  int64_t c32 = 32 / s.width_div, c320 = 320 / s.width_div, c1280 = 1280 / s.width_div;
  Conv2d conv1{net["conv1"], s.input_shape[0], c32, 3, conv(2, 1)};
  BatchNorm bn1{net["bn1"], c32};
  Sequential mbconv1 = block("mbconv1", 32, 16, 1, 1), mbconv2 = block("mbconv2", 16, 24, 2, 6);
  Sequential mbconv3 = block("mbconv3", 24, 40, 2, 6), mbconv4 = block("mbconv4", 40, 80, 2, 6);
  Sequential mbconv5 = block("mbconv5", 80, 112, 1, 6), mbconv6 = block("mbconv6", 112, 192, 2, 6);
  Sequential mbconv7 = block("mbconv7", 192, 320, 1, 6);
  Conv2d conv2{net["conv2"], c320, c1280, 1, conv(1, 0)};
  BatchNorm bn2{net["bn2"], c1280};
  Linear fc{net["fc"], c1280, s.num_classes};

  Sequential block(const char* name, int64_t m, int64_t n, int64_t stride, int64_t expand) const {
    const int64_t in = m / s.width_div, hidden = m * expand / s.width_div, out = n / s.width_div;
    return Sequential(net[name])
        .add<Conv2d>(in, hidden, 1, conv(1, 0))
        .add<BatchNorm>(hidden)
        .then(relu6_)
        .add<Conv2d>(hidden, hidden, 3, conv(stride, 1, hidden))
        .add<BatchNorm>(hidden)
        .then(relu6_)
        .add<Conv2d>(hidden, out, 1, conv(1, 0))
        .add<BatchNorm>(out);
  }
  Tensor operator()(Tensor x) const {
    x = mbconv3(mbconv2(mbconv1(at::relu(bn1(conv1(x))))));
    x = mbconv7(mbconv6(mbconv5(mbconv4(x))));
    x = at::adaptive_avg_pool2d(at::relu(bn2(conv2(x))), {1, 1});
    return fc(at::flatten(x, 1));
  }
};

static auto tensors(const Sizes& s) {
  TORCH_CHECK(1 <= s.width_div && s.width_div <= 16, "width_div must be 1 to 16");
  return std::tuple{
      input<real>("x", {s.batch_size, s.input_shape[0], s.input_shape[1], s.input_shape[2]}),
      weights<Network>(s), output<real>("y", {s.batch_size, s.num_classes})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& net) { return net(x); }

Task kb::task() {
  return define<decltype(launch)>(
      "Arch-CNN", tensors, reference,
      {.smoke = {.batch_size = 2, .input_shape = {3, 60, 60}, .num_classes = 10, .width_div = 8},
       .odd = {.batch_size = 3, .input_shape = {4, 69, 75}, .num_classes = 7, .width_div = 9}});
}
