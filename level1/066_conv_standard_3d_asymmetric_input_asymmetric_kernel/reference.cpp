#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const auto [kernel_d, kernel_h, kernel_w] = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.depth, s.height, s.width}),
      weight<real>("conv3d.weight", {s.out_channels, s.in_channels, kernel_d, kernel_h, kernel_w}),
      output<real>("y", {s.batch_size, s.out_channels, s.depth - kernel_d + 1,
                         s.height - kernel_h + 1, s.width - kernel_w + 1})};
}

static Tensor reference(const Sizes&, Tensor x, Tensor weight) { return at::conv3d(x, weight); }

Task kb::task() {
  return define<decltype(launch)>(
      "Convolution", tensors, reference,
      {.smoke = {2, 3, 4, {3, 5, 7}, 6, 14, 14}, .odd = {3, 2, 67, {2, 6, 3}, 5, 13, 11}});
}
