#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}),
      weight<real>("conv2d.weight", {s.in_channels, 1, s.kernel_size_h, s.kernel_size_w}),
      output<real>("y", {s.batch_size, s.in_channels, s.out_height(), s.out_width()})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor weight) {
  return at::conv2d(x, weight, {}, {s.stride_h, s.stride_w}, {s.padding_h, s.padding_w},
                    {s.dilation_h, s.dilation_w}, s.in_channels);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Convolution", tensors, reference,
      {.smoke = {2, 8, 8, 5, 7, 32, 21}, .odd = {3, 5, 7, 4, 3, 37, 29, 2, 3, 3, 1, 4, 5}});
}
