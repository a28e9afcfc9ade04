#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}),
                    weight<real>("conv1d.weight", {s.out_channels, s.in_channels, 1, 1}),
                    output<real>("y", {s.batch_size, s.out_channels, s.height, s.width})};
}

static Tensor reference(const Sizes&, Tensor x, Tensor weight) { return at::conv2d(x, weight); }

Task kb::task() {
  return define<decltype(launch)>(
      "Convolution", tensors, reference,
      {.smoke = {.batch_size = 2, .in_channels = 8, .out_channels = 16, .width = 32, .height = 32},
       .odd = {.batch_size = 3, .in_channels = 23, .out_channels = 67, .width = 19, .height = 29}});
}
