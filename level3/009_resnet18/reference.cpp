#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

static ConvOptions conv(int64_t stride, int64_t padding) {
  return {.stride = stride, .padding = padding, .bias = false};
}

struct Block {
  Scope net;
  int64_t in, out, stride;
  Conv2d conv1{net["conv1"], in, out, 3, conv(stride, 1)};
  BatchNorm bn1{net["bn1"], out};
  Conv2d conv2{net["conv2"], out, out, 3, conv(1, 1)};
  BatchNorm bn2{net["bn2"], out};
  Sequential downsample{net["downsample"]};
  Tensor operator()(const Tensor& x) const {
    const Tensor out = bn2(conv2(relu_(bn1(conv1(x)))));
    return relu_(out.add_(downsample(x)));
  }
};

// Only the first block halves height and width, and needs another shortcut then.
static Sequential layer(const Scope& net, int64_t in, int64_t out, int64_t stride) {
  Block first{net[0], in, out, stride};
  if (stride != 1) first.downsample.add<Conv2d>(in, out, 1, conv(stride, 0)).add<BatchNorm>(out);
  return Sequential(net).then(first).add<Block>(out, out, int64_t{1});
}

struct ResNet18 {
  Scope net;
  Sizes s;
  int64_t c = 64 / s.width_div, c2 = 128 / s.width_div, c4 = 256 / s.width_div,
          c8 = 512 / s.width_div;
  Conv2d conv1{net["conv1"], s.input_shape[1], c, 7, conv(2, 3)};
  BatchNorm bn1{net["bn1"], c};
  Sequential layer1 = layer(net["layer1"], c, c, 1), layer2 = layer(net["layer2"], c, c2, 2);
  Sequential layer3 = layer(net["layer3"], c2, c4, 2), layer4 = layer(net["layer4"], c4, c8, 2);
  Linear fc{net["fc"], c8, s.num_classes};
  Tensor operator()(Tensor x) const {
    x = at::max_pool2d(relu_(bn1(conv1(x))), 3, /*stride=*/2, /*padding=*/1);
    x = layer4(layer3(layer2(layer1(x))));
    return fc(at::flatten(at::adaptive_avg_pool2d(x, {1, 1}), 1));
  }
};

static auto tensors(const Sizes& s) {
  TORCH_CHECK(1 <= s.width_div && s.width_div <= 64, "width_div must be 1 to 64");
  const auto [n, channels, height, width] = s.input_shape;
  return std::tuple{input<real>("x", {n, channels, height, width}), weights<ResNet18>(s),
                    output<real>("y", {n, s.num_classes})};
}

static Tensor reference(const Sizes&, const Tensor& x, const ResNet18& net) { return net(x); }

Task kb::task() {
  return define<decltype(launch)>(
      "Arch-CNN", tensors, reference,
      {.smoke = {.input_shape = {2, 3, 64, 64}, .num_classes = 10, .width_div = 8},
       .odd = {.input_shape = {3, 4, 53, 75}, .num_classes = 7, .width_div = 9}});
}
