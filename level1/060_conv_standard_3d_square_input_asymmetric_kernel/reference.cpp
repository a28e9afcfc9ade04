#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const auto [kernel_w, kernel_h, kernel_d] = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.width, s.height, s.depth}),
      weight<real>("conv3d.weight", {s.out_channels, s.in_channels, kernel_w, kernel_h, kernel_d}),
      output<real>("y", {s.batch_size, s.out_channels, s.width - kernel_w + 1,
                         s.height - kernel_h + 1, s.depth - kernel_d + 1})};
}

static Tensor reference(const Sizes&, Tensor x, Tensor weight) { return at::conv3d(x, weight); }

Task kb::task() {
  return define<decltype(launch)>("Convolution", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 3,
                                             .out_channels = 4,
                                             .kernel_size = {3, 5, 7},
                                             .width = 12,
                                             .height = 12,
                                             .depth = 12},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 2,
                                           .out_channels = 67,
                                           .kernel_size = {2, 3, 5},
                                           .width = 7,
                                           .height = 9,
                                           .depth = 13}});
}
