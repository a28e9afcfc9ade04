#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

static Tensor pool(const Tensor& x, int64_t stride) {
  return at::max_pool2d(x, 3, stride, /*padding=*/1);
}

struct Inception {
  Scope net;
  int64_t in, out1, reduce3, out3, reduce5, out5, proj;
  Conv2d branch1x1{net["branch1x1"], in, out1, 1};
  Conv2d reduce3x3{net["branch3x3"][0], in, reduce3, 1};
  Conv2d branch3x3{net["branch3x3"][1], reduce3, out3, 3, {.padding = 1}};
  Conv2d reduce5x5{net["branch5x5"][0], in, reduce5, 1};
  Conv2d branch5x5{net["branch5x5"][1], reduce5, out5, 5, {.padding = 2}};
  Conv2d branch_pool{net["branch_pool"][1], in, proj, 1};
  int64_t channels() const { return out1 + out3 + out5 + proj; }
  Tensor operator()(const Tensor& x) const {
    return at::cat(
        {branch1x1(x), branch3x3(reduce3x3(x)), branch5x5(reduce5x5(x)), branch_pool(pool(x, 1))},
        1);
  }
};

struct Network {
  Scope net;
  Sizes s;
  int64_t c64 = 64 / s.width_div, c192 = 192 / s.width_div;
  Conv2d conv1{net["conv1"], 3, c64, 7, {.stride = 2, .padding = 3}};
  Conv2d conv2{net["conv2"], c64, c64, 1};
  Conv2d conv3{net["conv3"], c64, c192, 3, {.padding = 1}};
  Inception inception3a = inception("inception3a", c192, {64, 96, 128, 16, 32, 32});
  Inception inception3b =
      inception("inception3b", inception3a.channels(), {128, 128, 192, 32, 96, 64});
  Inception inception4a =
      inception("inception4a", inception3b.channels(), {192, 96, 208, 16, 48, 64});
  Inception inception4b =
      inception("inception4b", inception4a.channels(), {160, 112, 224, 24, 64, 64});
  Inception inception4c =
      inception("inception4c", inception4b.channels(), {128, 128, 256, 24, 64, 64});
  Inception inception4d =
      inception("inception4d", inception4c.channels(), {112, 144, 288, 32, 64, 64});
  Inception inception4e =
      inception("inception4e", inception4d.channels(), {256, 160, 320, 32, 128, 128});
  Inception inception5a =
      inception("inception5a", inception4e.channels(), {256, 160, 320, 32, 128, 128});
  Inception inception5b =
      inception("inception5b", inception5a.channels(), {384, 192, 384, 48, 128, 128});
  Linear fc{net["fc"], inception5b.channels(), s.num_classes};

  Inception inception(const char* name, int64_t in, const std::array<int64_t, 6>& out) const {
    const auto c = [&](int i) { return out[i] / s.width_div; };
    return {net[name], in, c(0), c(1), c(2), c(3), c(4), c(5)};
  }
  Tensor operator()(Tensor x) const {
    x = at::relu(conv2(pool(at::relu(conv1(x)), 2)));
    x = pool(at::relu(conv3(x)), 2);
    x = pool(inception3b(inception3a(x)), 2);
    x = inception4e(inception4d(inception4c(inception4b(inception4a(x)))));
    x = inception5b(inception5a(pool(x, 2)));
    return fc(at::flatten(at::adaptive_avg_pool2d(x, {1, 1}), 1));
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
       .odd = {.batch_size = 3, .height = 53, .width = 75, .num_classes = 7, .width_div = 13}});
}
