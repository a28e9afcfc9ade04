#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const auto [kernel_h, kernel_w] = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}),
      weight<real>("conv_transpose2d.weight", {s.in_channels, s.out_channels, kernel_h, kernel_w}),
      output<real>("y", {s.batch_size, s.out_channels, s.out_height(), s.out_width()})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor weight) {
  return at::conv_transpose2d(x, weight, {}, s.stride, s.padding);
}

Task kb::task() {
  return define<decltype(launch)>("ConvTranspose", tensors, reference,
                                  {.smoke = {2, 4, 4, {3, 7}, 12, 24, {1, 1}, {1, 3}},
                                   .odd = {3, 5, 37, {4, 3}, 23, 29, {2, 3}, {2, 2}}});
}
