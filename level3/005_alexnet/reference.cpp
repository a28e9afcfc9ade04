#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  int64_t c96 = 96 / s.width_div, c256 = 256 / s.width_div, c384 = 384 / s.width_div,
          c4096 = 4096 / s.width_div;
  Conv2d conv1{net["conv1"], 3, c96, 11, {.stride = 4, .padding = 2}};
  Conv2d conv2{net["conv2"], c96, c256, 5, {.padding = 2}};
  Conv2d conv3{net["conv3"], c256, c384, 3, {.padding = 1}};
  Conv2d conv4{net["conv4"], c384, c384, 3, {.padding = 1}};
  Conv2d conv5{net["conv5"], c384, c256, 3, {.padding = 1}};
  Linear fc1{net["fc1"], c256 * 6 * 6, c4096}, fc2{net["fc2"], c4096, c4096};
  Linear fc3{net["fc3"], c4096, s.num_classes};
  Tensor operator()(Tensor x) const {
    x = at::max_pool2d(relu_(conv1(x)), 3, 2);
    x = at::max_pool2d(relu_(conv2(x)), 3, 2);
    x = relu_(conv4(relu_(conv3(x))));
    x = at::max_pool2d(relu_(conv5(x)), 3, 2);
    x = relu_(fc1(at::flatten(x, 1)));
    return fc3(relu_(fc2(x)));
  }
};

static auto tensors(const Sizes& s) {
  TORCH_CHECK(1 <= s.width_div && s.width_div <= 96, "width_div must be 1 to 96");
  return std::tuple{input<real>("x", {s.batch_size, 3, 224, 224}), weights<Network>(s),
                    output<real>("y", {s.batch_size, s.num_classes})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& net) { return net(x); }

Task kb::task() {
  return define<decltype(launch)>("Arch-CNN", tensors, reference,
                                  {.smoke = {.batch_size = 2, .num_classes = 10, .width_div = 16},
                                   .odd = {.batch_size = 3, .num_classes = 7, .width_div = 32}});
}
