#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.length}),
      weight<real>("conv1d_transpose.weight", {s.in_channels, s.out_channels, s.kernel_size}),
      output<real>("y", {s.batch_size, s.out_channels, s.out_length()})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor weight) {
  return at::conv_transpose1d(x, weight, {}, s.stride, s.padding, 0, 1, s.dilation);
}

Task kb::task() {
  return define<decltype(launch)>(
      "ConvTranspose", tensors, reference,
      {.smoke = {2, 4, 8, 5, 256, 1, 0, 3}, .odd = {3, 5, 67, 4, 307, 3, 2, 2}});
}
