#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const int64_t k = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.depth, s.height, s.width}),
      weight<real>("conv_transpose3d.weight", {s.in_channels, s.out_channels, k, k, k}),
      output<real>("y",
                   {s.batch_size, s.out_channels, s.out_depth(), s.out_height(), s.out_width()})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor weight) {
  return at::conv_transpose3d(x, weight, {}, s.stride, s.padding);
}

Task kb::task() {
  return define<decltype(launch)>(
      "ConvTranspose", tensors, reference,
      {.smoke = {2, 8, 8, 3, 6, 8, 10, 2, 1}, .odd = {1, 5, 37, 4, 7, 11, 9, 3, 2}});
}
