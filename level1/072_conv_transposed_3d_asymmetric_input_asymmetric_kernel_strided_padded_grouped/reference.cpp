#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const auto [kernel_d, kernel_h, kernel_w] = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.depth, s.height, s.width}),
      weight<real>("conv_transpose3d.weight",
                   {s.in_channels, s.out_channels / s.groups, kernel_d, kernel_h, kernel_w}),
      output<real>("y",
                   {s.batch_size, s.out_channels, s.out_depth(), s.out_height(), s.out_width()})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor weight) {
  return at::conv_transpose3d(x, weight, {}, s.stride, s.padding, s.output_padding, s.groups);
}

Task kb::task() {
  return define<decltype(launch)>(
      "ConvTranspose", tensors, reference,
      {.smoke = {2, 8, 8, {3, 5, 7}, 4, 6, 8, {2, 2, 2}, {1, 2, 3}, {1, 1, 1}, 4},
       .odd = {1, 6, 33, {2, 3, 4}, 7, 11, 17, {3, 3, 1}, {0, 1, 2}, {2, 2, 0}, 3}});
}
