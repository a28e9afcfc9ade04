#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const auto [kernel_h, kernel_w] = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}),
      weight<real>("conv_transpose2d.weight",
                   {s.in_channels, s.out_channels / s.groups, kernel_h, kernel_w}),
      output<real>("y", {s.batch_size, s.out_channels, s.out_height(), s.out_width()})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor weight) {
  return at::conv_transpose2d(x, weight, {}, s.stride, s.padding, 0, s.groups, s.dilation);
}

Task kb::task() {
  return define<decltype(launch)>("ConvTranspose", tensors, reference,
                                  {.smoke = {2, 8, 16, {3, 5}, 12, 16, {2, 3}, {1, 2}, {2, 1}, 4},
                                   .odd = {3, 6, 51, {4, 3}, 29, 23, {3, 2}, {2, 0}, {1, 3}, 3}});
}
