#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

static ConvOptions conv(int64_t stride, int64_t padding, int64_t groups = 1) {
  return {.stride = stride, .padding = padding, .groups = groups, .bias = false};
}

struct Block {
  Scope net;
  int64_t in, hidden, out, kernel, stride;
  bool residual;
  Sequential expand_conv = expand();
  Sequential depthwise_conv =
      Sequential(net["depthwise_conv"])
          .add<Conv2d>(hidden, hidden, kernel, conv(stride, (kernel - 1) / 2, hidden))
          .add<BatchNorm>(hidden)
          .then(relu6_);
  Sequential project_conv =
      Sequential(net["project_conv"]).add<Conv2d>(hidden, out, 1, conv(1, 0)).add<BatchNorm>(out);

  Sequential expand() const {
    Sequential all(net["expand_conv"]);
    if (hidden == in) return all;
    return all.add<Conv2d>(in, hidden, 1, conv(1, 0)).add<BatchNorm>(hidden).then(relu6_);
  }
  Tensor operator()(const Tensor& x) const {
    const Tensor y = project_conv(depthwise_conv(expand_conv(x)));
    return residual ? y.add_(x) : y;
  }
};

struct Network {
  Scope net;
  Sizes s;
  int64_t c32 = 32 / s.width_div, c320 = 320 / s.width_div, c1280 = 1280 / s.width_div;
  Conv2d conv1{net["conv1"], 3, c32, 3, conv(2, 1)};
  BatchNorm bn1{net["bn1"], c32};
  std::vector<Block> blocks = make();
  Conv2d conv2{net["conv2"], c320, c1280, 1, conv(1, 0)};
  BatchNorm bn2{net["bn2"], c1280};
  Linear fc{net["fc"], c1280, s.num_classes};

  std::vector<Block> make() const {
    std::vector<Block> all;
    for (const auto& [m, n, kernel, stride, expand] :
         std::initializer_list<std::array<int64_t, 5>>{{32, 16, 3, 1, 1},
                                                       {16, 24, 3, 2, 6},
                                                       {24, 24, 3, 1, 6},
                                                       {24, 40, 5, 2, 6},
                                                       {40, 40, 5, 1, 6},
                                                       {40, 80, 3, 2, 6},
                                                       {80, 80, 3, 1, 6},
                                                       {80, 112, 5, 1, 6},
                                                       {112, 112, 5, 1, 6},
                                                       {112, 192, 5, 2, 6},
                                                       {192, 192, 5, 1, 6},
                                                       {192, 192, 5, 1, 6},
                                                       {192, 320, 3, 1, 6}}) {
      const auto number = static_cast<int64_t>(all.size());
      all.push_back({net["blocks"][number], m / s.width_div, m * expand / s.width_div,
                     n / s.width_div, kernel, stride, stride == 1 && m == n});
    }
    return all;
  }
  Tensor operator()(Tensor x) const {
    x = at::relu(bn1(conv1(x)));
    for (const Block& block : blocks) x = block(x);
    x = at::adaptive_avg_pool2d(at::relu(bn2(conv2(x))), {1, 1});
    return fc(x.view({x.size(0), -1}));
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
      {.smoke = {.batch_size = 2, .height = 64, .width = 64, .num_classes = 10, .width_div = 8},
       .odd = {.batch_size = 3, .height = 69, .width = 75, .num_classes = 7, .width_div = 9}});
}
