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
  int64_t hidden = s.in_channels * s.expand_ratio;
  Sequential expand_conv = expand();
  Sequential depthwise_conv = Sequential(net["depthwise_conv"])
                                  .add<Conv2d>(hidden, hidden, s.kernel_size,
                                               conv(s.stride, (s.kernel_size - 1) / 2, hidden))
                                  .add<BatchNorm>(hidden)
                                  .then(relu6_);
  Sequential project_conv = Sequential(net["project_conv"])
                                .add<Conv2d>(hidden, s.out_channels, 1, conv(1, 0))
                                .add<BatchNorm>(s.out_channels);

  Sequential expand() const {
    Sequential all(net["expand_conv"]);
    if (s.expand_ratio == 1) return all;
    return all.add<Conv2d>(s.in_channels, hidden, 1, conv(1, 0))
        .add<BatchNorm>(hidden)
        .then(relu6_);
  }
};

static auto tensors(const Sizes& s) {
  TORCH_CHECK(s.kernel_size % 2 == 1, "kernel_size must be odd");
  return std::tuple{input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}),
                    weights<Network>(s),
                    output<real>("y", {s.batch_size, s.out_channels, (s.height - 1) / s.stride + 1,
                                       (s.width - 1) / s.stride + 1})};
}

static Tensor reference(const Sizes& s, const Tensor& x, const Network& n) {
  const Tensor y = n.project_conv(n.depthwise_conv(n.expand_conv(x)));
  return s.stride == 1 && s.in_channels == s.out_channels ? y.add_(x) : y;
}

Task kb::task() {
  return define<decltype(launch)>("Arch-CNN", tensors, reference,
                                  {.smoke = {.in_channels = 6,
                                             .out_channels = 8,
                                             .kernel_size = 5,
                                             .stride = 2,
                                             .expand_ratio = 6,
                                             .batch_size = 2,
                                             .height = 16,
                                             .width = 16},
                                   .odd = {.in_channels = 7,
                                           .out_channels = 7,
                                           .kernel_size = 3,
                                           .stride = 1,
                                           .expand_ratio = 3,
                                           .batch_size = 3,
                                           .height = 13,
                                           .width = 9}});
}
