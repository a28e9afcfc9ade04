#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}),
      weight<real>("conv2d.weight", {s.in_channels, 1, s.kernel_size, 1}),
      output<real>("y", {s.batch_size, s.in_channels, s.out_height(), s.out_width()})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor weight) {
  return at::conv2d(x, weight, {}, s.stride, s.padding, s.dilation, s.in_channels);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Convolution", tensors, reference,
      {.smoke = {2, 8, 6, 24, 30, 1, 0, 1}, .odd = {3, 5, 4, 37, 29, 2, 3, 4}});
}
