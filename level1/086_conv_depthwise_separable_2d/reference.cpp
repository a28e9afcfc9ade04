#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const int64_t k = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}),
      weight<real>("depthwise.weight", {s.in_channels, 1, k, k}),
      weight<real>("pointwise.weight", {s.out_channels, s.in_channels, 1, 1}),
      output<real>("y", {s.batch_size, s.out_channels, s.out_height(), s.out_width()})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor depthwise, Tensor pointwise) {
  x = at::conv2d(x, depthwise, {}, s.stride, s.padding, s.dilation, s.in_channels);
  return at::conv2d(x, pointwise);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Convolution", tensors, reference,
      {.smoke = {2, 8, 16, 3, 24, 25, 1, 1, 1}, .odd = {3, 21, 131, 4, 37, 29, 2, 3, 4}});
}
