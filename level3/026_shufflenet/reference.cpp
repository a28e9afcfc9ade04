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
  Conv2d conv1{net["conv1"], s.input_channels, s.stages_out_channels[0], 3, conv(1, 1, 2)};
  BatchNorm bn1{net["bn1"], s.stages_out_channels[0]};
  Sequential stage2 = stage("stage2", 0), stage3 = stage("stage3", 1), stage4 = stage("stage4", 2);
  Conv2d conv5{net["conv5"], s.stages_out_channels[3], s.final_channels, 1, conv(0, 1)};
  BatchNorm bn5{net["bn5"], s.final_channels};
  Linear fc{net["fc"], s.final_channels, s.num_classes};

  Sequential stage(const char* name, int i) const {
    Sequential all(net[name]);
    const int64_t out = s.stages_out_channels[i + 1];
    all.add<Unit>(s.stages_out_channels[i], out, s.groups);
    for (int64_t j = 1; j < s.stages_repeats[i]; ++j) all.add<Unit>(out, out, s.groups);
    return all;
  }
  Tensor operator()(Tensor x) const {
    x = at::max_pool2d(at::relu(bn1(conv1(x))), 3, /*stride=*/2, /*padding=*/1);
    x = at::relu(bn5(conv5(stage4(stage3(stage2(x))))));
    x = at::adaptive_avg_pool2d(x, {1, 1});
    return fc(x.view({x.size(0), -1}));
  }
};

static auto tensors(const Sizes& s) {
  for (const int64_t channels : s.stages_out_channels) {
    TORCH_CHECK(channels % (4 * s.groups) == 0, "4 * groups must divide all stages_out_channels");
  }
  return std::tuple{input<real>("x", {s.batch_size, s.input_channels, s.height, s.width}),
                    weights<Network>(s), output<real>("y", {s.batch_size, s.num_classes})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& net) { return net(x); }

Task kb::task() {
  return define<decltype(launch)>("Arch-CNN", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .input_channels = 3,
                                             .height = 32,
                                             .width = 32,
                                             .num_classes = 10,
                                             .groups = 3,
                                             .stages_repeats = {1, 2, 1},
                                             .stages_out_channels = {12, 24, 48, 96},
                                             .final_channels = 64},
                                   .odd = {.batch_size = 3,
                                           .input_channels = 5,
                                           .height = 45,
                                           .width = 35,
                                           .num_classes = 7,
                                           .groups = 5,
                                           .stages_repeats = {2, 1, 2},
                                           .stages_out_channels = {20, 40, 40, 60},
                                           .final_channels = 37}});
}
