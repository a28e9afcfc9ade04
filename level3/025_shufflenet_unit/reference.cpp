#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

static ConvOptions conv(int64_t padding, int64_t groups, int64_t stride = 1) {
  return {.stride = stride, .padding = padding, .groups = groups, .bias = false};
}

struct Unit {
  Scope net;
  int64_t in, out, groups, mid = out / 4;
  Conv2d conv1{net["conv1"], in, mid, 1, conv(0, groups)};
  BatchNorm bn1{net["bn1"], mid};
  Conv2d conv2{net["conv2"], mid, mid, 3, conv(1, mid)};
  BatchNorm bn2{net["bn2"], mid};
  Conv2d conv3{net["conv3"], mid, out, 1, conv(0, groups)};
  BatchNorm bn3{net["bn3"], out};
  Sequential shortcut = adapt();

  Sequential adapt() const {
    Sequential all(net["shortcut"]);
    return in == out ? all : all.add<Conv2d>(in, out, 1, conv(0, 1)).add<BatchNorm>(out);
  }
  Tensor shuffled(const Tensor& x) const {
    const int64_t n = x.size(0), height = x.size(2), width = x.size(3);
    const Tensor parts = x.view({n, groups, mid / groups, height, width});
    return parts.transpose(1, 2).reshape({n, -1, height, width});
  }
  Tensor operator()(const Tensor& x) const {
    const Tensor middle = bn2(conv2(at::relu(bn1(conv1(x)))));
    const Tensor out = at::relu(bn3(conv3(shuffled(middle))));
    return out.add_(shortcut(x));
  }
};

struct Network {
  Scope net;
  Sizes s;
  Unit unit{net, s.input_channels, s.out_channels, s.groups};
};

static auto tensors(const Sizes& s) {
  TORCH_CHECK(s.out_channels % (4 * s.groups) == 0 && s.input_channels % s.groups == 0,
              "groups must divide input_channels and out_channels / 4");
  return std::tuple{input<real>("x", {s.batch_size, s.input_channels, s.height, s.width}),
                    weights<Network>(s),
                    output<real>("y", {s.batch_size, s.out_channels, s.height, s.width})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& n) { return n.unit(x); }

Task kb::task() {
  return define<decltype(launch)>("Arch-CNN", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .input_channels = 12,
                                             .out_channels = 24,
                                             .groups = 3,
                                             .height = 14,
                                             .width = 14},
                                   .odd = {.batch_size = 3,
                                           .input_channels = 10,
                                           .out_channels = 40,
                                           .groups = 5,
                                           .height = 13,
                                           .width = 9}});
}
