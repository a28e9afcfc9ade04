#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}),
      weight<real>("conv2d.weight",
                   {s.out_channels, s.in_channels, s.kernel_size[0], s.kernel_size[1]}),
      output<real>("y", {s.batch_size, s.out_channels, s.out_height(), s.out_width()})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor weight) {
  return at::conv2d(x, weight, {}, s.stride, s.padding, s.dilation);
}

Task kb::task() {
  return define<decltype(launch)>("Convolution", tensors, reference,
                                  {.smoke = {2, 4, 8, {5, 9}, 28, 28, 1, {2, 4}, {2, 3}},
                                   .odd = {3, 5, 67, {3, 2}, 31, 37, 2, {3, 1}, {1, 5}}});
}
