#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const auto [kernel_d, kernel_h, kernel_w] = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.depth_in, s.height_in, s.width_in}),
      weight<real>("conv_transpose3d.weight",
                   {s.in_channels, s.out_channels, kernel_d, kernel_h, kernel_w}),
      output<real>("y", {s.batch_size, s.out_channels, s.depth_in + kernel_d - 1,
                         s.height_in + kernel_h - 1, s.width_in + kernel_w - 1})};
}

static Tensor reference(const Sizes&, Tensor x, Tensor weight) {
  return at::conv_transpose3d(x, weight);
}

Task kb::task() {
  return define<decltype(launch)>(
      "ConvTranspose", tensors, reference,
      {.smoke = {2, 4, 2, {3, 5, 7}, 4, 8, 12}, .odd = {3, 3, 19, {2, 3, 4}, 5, 7, 13}});
}
