#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.depth, s.width, s.height}),
      weight<real>("conv_transpose3d.weight", {s.in_channels, s.out_channels, s.kernel_depth,
                                               s.kernel_width, s.kernel_height}),
      output<real>("y", {s.batch_size, s.out_channels, s.depth + s.kernel_depth - 1,
                         s.width + s.kernel_width - 1, s.height + s.kernel_height - 1})};
}

static Tensor reference(const Sizes&, Tensor x, Tensor weight) {
  return at::conv_transpose3d(x, weight);
}

Task kb::task() {
  return define<decltype(launch)>(
      "ConvTranspose", tensors, reference,
      {.smoke = {2, 4, 8, 3, 5, 5, 6, 6, 6}, .odd = {3, 3, 67, 2, 3, 4, 5, 9, 7}});
}
