#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

static ConvOptions conv(int64_t stride, int64_t padding) {
  return {.stride = stride, .padding = padding, .bias = false};
}

struct Network {
  Scope net;
  Sizes s;
  Conv2d conv1{net["conv1"], s.in_channels, s.out_channels, 3, conv(s.stride, 1)};
  BatchNorm bn1{net["bn1"], s.out_channels};
  Conv2d conv2{net["conv2"], s.out_channels, s.out_channels, 3, conv(1, 1)};
  BatchNorm bn2{net["bn2"], s.out_channels};
  Sequential downsample = Sequential(net["downsample"])
                              .add<Conv2d>(s.in_channels, s.out_channels, 1, conv(s.stride, 0))
                              .add<BatchNorm>(s.out_channels);
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}),
                    weights<Network>(s),
                    output<real>("y", {s.batch_size, s.out_channels, (s.height - 1) / s.stride + 1,
                                       (s.width - 1) / s.stride + 1})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& n) {
  const Tensor out = n.bn2(n.conv2(relu_(n.bn1(n.conv1(x)))));
  return relu_(out.add_(n.downsample(x)));
}

Task kb::task() {
  return define<decltype(launch)>("Arch-CNN", tensors, reference,
                                  {.smoke = {.in_channels = 3,
                                             .out_channels = 16,
                                             .stride = 1,
                                             .batch_size = 2,
                                             .height = 28,
                                             .width = 28},
                                   .odd = {.in_channels = 5,
                                           .out_channels = 9,
                                           .stride = 2,
                                           .batch_size = 3,
                                           .height = 17,
                                           .width = 13}});
}
