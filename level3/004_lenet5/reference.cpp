#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Conv2d conv1{net["conv1"], 1, 6, 5}, conv2{net["conv2"], 6, 16, 5};
  Linear fc1{net["fc1"], 16 * 5 * 5, 120}, fc2{net["fc2"], 120, 84};
  Linear fc3{net["fc3"], 84, s.num_classes};
  Tensor operator()(Tensor x) const {
    x = at::max_pool2d(at::relu(conv1(x)), 2, 2);
    x = at::max_pool2d(at::relu(conv2(x)), 2, 2);
    x = at::relu(fc1(x.view({-1, 16 * 5 * 5})));
    return fc3(at::relu(fc2(x)));
  }
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, 1, 32, 32}), weights<Network>(s),
                    output<real>("y", {s.batch_size, s.num_classes})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& net) { return net(x); }

Task kb::task() {
  return define<decltype(launch)>(
      "Arch-CNN", tensors, reference,
      {.smoke = {.batch_size = 2, .num_classes = 20}, .odd = {.batch_size = 3, .num_classes = 7}});
}
