#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

static ConvOptions conv(int64_t stride, int64_t padding) {
  return {.stride = stride, .padding = padding, .bias = false};
}

struct Bottleneck {
  Scope net;
  int64_t in, width, out, stride;
  Conv2d conv1{net["conv1"], in, width, 1, conv(1, 0)};
  BatchNorm bn1{net["bn1"], width};
  Conv2d conv2{net["conv2"], width, width, 3, conv(stride, 1)};
  BatchNorm bn2{net["bn2"], width};
  Conv2d conv3{net["conv3"], width, out, 1, conv(1, 0)};
  BatchNorm bn3{net["bn3"], out};
  Sequential downsample{net["downsample"]};
  Tensor operator()(const Tensor& x) const {
    const Tensor middle = relu_(bn2(conv2(relu_(bn1(conv1(x))))));
    const Tensor out = bn3(conv3(middle));
    return relu_(out.add_(downsample(x)));
  }
};

static Sequential layer(const Scope& net, const Sizes& s, int64_t in, int64_t width, int64_t blocks,
                        int64_t stride) {
  const int64_t inner = width / s.width_div, out = width * 4 / s.width_div;
  Bottleneck first{net[0], in / s.width_div, inner, out, stride};
  first.downsample.add<Conv2d>(in / s.width_div, out, 1, conv(stride, 0)).add<BatchNorm>(out);
  Sequential all = Sequential(net).then(first);
  for (int64_t i = 1; i < blocks; ++i) all.add<Bottleneck>(out, inner, out, int64_t{1});
  return all;
}

struct Network {
  Scope net;
  Sizes s;
  Conv2d conv1{net["conv1"], 3, 64 / s.width_div, 7, conv(2, 3)};
  BatchNorm bn1{net["bn1"], 64 / s.width_div};
  Sequential layer1 = layer(net["layer1"], s, 64, 64, s.layers[0], 1);
  Sequential layer2 = layer(net["layer2"], s, 256, 128, s.layers[1], 2);
  Sequential layer3 = layer(net["layer3"], s, 512, 256, s.layers[2], 2);
  Sequential layer4 = layer(net["layer4"], s, 1024, 512, s.layers[3], 2);
  Linear fc{net["fc"], 2048 / s.width_div, s.num_classes};
  Tensor operator()(Tensor x) const {
    x = at::max_pool2d(relu_(bn1(conv1(x))), 3, /*stride=*/2, /*padding=*/1);
    x = layer4(layer3(layer2(layer1(x))));
    return fc(at::flatten(at::adaptive_avg_pool2d(x, {1, 1}), 1));
  }
};

static auto tensors(const Sizes& s) {
  TORCH_CHECK(1 <= s.width_div && s.width_div <= 64, "width_div must be 1 to 64");
  for (const int64_t blocks : s.layers) TORCH_CHECK(blocks >= 1, "a layer has at least one block");
  return std::tuple{input<real>("x", {s.batch_size, 3, s.height, s.width}), weights<Network>(s),
                    output<real>("y", {s.batch_size, s.num_classes})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& net) { return net(x); }

Task kb::task() {
  return define<decltype(launch)>("Arch-CNN", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .height = 64,
                                             .width = 64,
                                             .layers = {1, 1, 2, 1},
                                             .num_classes = 10,
                                             .width_div = 8},
                                   .odd = {.batch_size = 3,
                                           .height = 69,
                                           .width = 75,
                                           .layers = {2, 2, 1, 2},
                                           .num_classes = 7,
                                           .width_div = 13}});
}
