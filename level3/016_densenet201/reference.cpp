#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

static ConvOptions conv(int64_t stride, int64_t padding) {
  return {.stride = stride, .padding = padding, .bias = false};
}

// Batch norm, relu and a convolution.
static Sequential layer(const Scope& net, int64_t in, int64_t out, int64_t kernel) {
  return Sequential(net).add<BatchNorm>(in).then(relu_).add<Conv2d>(in, out, kernel,
                                                                    conv(1, kernel / 2));
}

struct Network {
  Scope net;
  Sizes s;
  int64_t growth = s.growth_rate / s.width_div, channels = 64 / s.width_div;
  Sequential features = Sequential(net["features"])
                            .add<Conv2d>(3, channels, 7, conv(2, 3))
                            .add<BatchNorm>(channels)
                            .then(relu_)
                            .then([](const Tensor& x) { return at::max_pool2d(x, 3, 2, 1); });
  std::array<std::vector<Sequential>, 4> dense_blocks = blocks();
  std::vector<Sequential> transition_layers = transitions();
  BatchNorm final_bn{net["final_bn"], channels_at(4)};
  Linear classifier{net["classifier"], channels_at(4), s.num_classes};

  // What block i reads, or, for i = 4, what the last one leaves.
  int64_t channels_at(int i) const {
    int64_t c = channels;
    for (int j = 0; j < i; ++j) c = (c + s.block_layers[j] * growth) / (j < 3 ? 2 : 1);
    return c;
  }
  std::array<std::vector<Sequential>, 4> blocks() const {
    std::array<std::vector<Sequential>, 4> all;
    for (int i = 0; i < 4; ++i) {
      const Scope at = net["dense_blocks"][i]["layers"];
      for (int64_t j = 0; j < s.block_layers[i]; ++j) {
        all[i].push_back(layer(at[j], channels_at(i) + j * growth, growth, 3));
      }
    }
    return all;
  }
  std::vector<Sequential> transitions() const {
    std::vector<Sequential> all;
    for (int i = 0; i < 3; ++i) {
      const int64_t in = channels_at(i) + s.block_layers[i] * growth;
      all.push_back(layer(net["transition_layers"][i]["transition"], in, in / 2, 1));
    }
    return all;
  }
  Tensor operator()(Tensor x) const {
    x = features(x);
    for (int i = 0; i < 4; ++i) {
      std::vector<Tensor> parts = {x};
      for (const Sequential& dense : dense_blocks[i]) {
        parts.push_back(dense(x));
        x = at::cat(parts, 1);
      }
      if (i < 3) x = at::avg_pool2d(transition_layers[i](x), 2, 2);
    }
    x = relu_(final_bn(x));
    return classifier(at::adaptive_avg_pool2d(x, {1, 1}).view({x.size(0), -1}));
  }
};

static auto tensors(const Sizes& s) {
  TORCH_CHECK(1 <= s.width_div && s.width_div <= std::min<int64_t>(64, s.growth_rate),
              "width_div must be 1 to 64, and at most growth_rate");
  return std::tuple{input<real>("x", {s.batch_size, 3, s.height, s.width}), weights<Network>(s),
                    output<real>("y", {s.batch_size, s.num_classes})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& net) { return net(x); }

Task kb::task() {
  return define<decltype(launch)>("Arch-CNN", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .num_classes = 10,
                                             .height = 64,
                                             .width = 64,
                                             .growth_rate = 32,
                                             .block_layers = {2, 3, 4, 2},
                                             .width_div = 8},
                                   .odd = {.batch_size = 3,
                                           .num_classes = 7,
                                           .height = 69,
                                           .width = 75,
                                           .growth_rate = 33,
                                           .block_layers = {1, 4, 2, 3},
                                           .width_div = 9}});
}
