#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  TORCH_CHECK(1 <= s.width_div && s.width_div <= 64, "width_div must be 1 to 64");
  WeightTable table;
  auto conv = [&](const std::string& name, int64_t out, int64_t in, int64_t kernel) {
    table.specs.push_back(weight<float>(name + ".weight", {out, in, kernel, kernel}));
  };
  auto bn = [&](const std::string& name, int64_t channels) {
    table.specs.push_back(weight<float>(name + ".weight", {channels}));
    table.specs.push_back(weight<float>(name + ".bias", {channels}));
    table.specs.push_back(unread_buffer<float>(name + ".running_mean", {channels}));
    table.specs.push_back(unread_buffer<float>(name + ".running_var", {channels}));
    table.specs.push_back(unread_buffer<int64_t>(name + ".num_batches_tracked", {}));
  };
  int64_t in = 64 / s.width_div;
  conv("conv1", in, s.input_shape[1], 7);
  bn("bn1", in);
  for (int layer = 1; layer <= 4; ++layer) {
    const int64_t out = (32 << layer) / s.width_div;
    for (int block = 0; block < 2; ++block) {
      const std::string name = "layer" + std::to_string(layer) + "." + std::to_string(block);
      conv(name + ".conv1", out, in, 3);
      bn(name + ".bn1", out);
      conv(name + ".conv2", out, out, 3);
      bn(name + ".bn2", out);
      if (layer > 1 && block == 0) {
        conv(name + ".downsample.0", out, in, 1);
        bn(name + ".downsample.1", out);
      }
      in = out;
    }
  }
  table.specs.push_back(weight<float>("fc.weight", {s.num_classes, in}));
  table.specs.push_back(weight<float>("fc.bias", {s.num_classes}).upstream(fan_in_uniform(in)));
  const auto [n, channels, height, width] = s.input_shape;
  return std::tuple{input<float>("x", {n, channels, height, width}), table,
                    output<float>("y", {n, s.num_classes})};
}

static Tensor conv(const NamedTensors& w, const std::string& name, Tensor x, int64_t stride,
                   int64_t padding) {
  return at::conv2d(x, w[name + ".weight"], {}, stride, padding);
}

static Tensor batch_norm(const NamedTensors& w, const std::string& name, Tensor x) {
  return at::batch_norm(x, w[name + ".weight"], w[name + ".bias"], /*running_mean=*/{},
                        /*running_var=*/{}, /*training=*/true, /*momentum=*/0.1, /*eps=*/1e-5,
                        /*cudnn_enabled=*/true);
}

static Tensor block(const NamedTensors& w, const std::string& name, Tensor x, int64_t stride) {
  Tensor out = at::relu(batch_norm(w, name + ".bn1", conv(w, name + ".conv1", x, stride, 1)));
  out = batch_norm(w, name + ".bn2", conv(w, name + ".conv2", out, 1, 1));
  if (stride != 1) {
    x = batch_norm(w, name + ".downsample.1", conv(w, name + ".downsample.0", x, stride, 0));
  }
  return at::relu(out + x);
}

static Tensor reference(const Sizes&, Tensor x, const NamedTensors& w) {
  x = at::relu(batch_norm(w, "bn1", conv(w, "conv1", x, 2, 3)));
  x = at::max_pool2d(x, 3, /*stride=*/2, /*padding=*/1);
  for (const std::string layer : {"layer1", "layer2", "layer3", "layer4"}) {
    x = block(w, layer + ".0", x, layer == "layer1" ? 1 : 2);
    x = block(w, layer + ".1", x, 1);
  }
  x = at::flatten(at::adaptive_avg_pool2d(x, {1, 1}), 1);
  return at::linear(x, w["fc.weight"], w["fc.bias"]);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Arch-CNN", tensors, reference,
      {.smoke = {{2, 3, 64, 64}, 10, 8}, .odd = {{3, 3, 53, 75}, 7, 9}});
}
