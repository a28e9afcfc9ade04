#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const int64_t k = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.depth, s.height, s.width}),
      weight<real>("conv_transpose3d.weight", {s.in_channels, s.out_channels, k, k, k}),
      output<real>(
          "y", {s.batch_size, s.out_channels, s.depth + k - 1, s.height + k - 1, s.width + k - 1})};
}

static Tensor reference(const Sizes&, Tensor x, Tensor weight) {
  return at::conv_transpose3d(x, weight);
}

Task kb::task() {
  return define<decltype(launch)>("ConvTranspose", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 6,
                                             .out_channels = 3,
                                             .kernel_size = 3,
                                             .depth = 8,
                                             .height = 8,
                                             .width = 8},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 29,
                                           .kernel_size = 2,
                                           .depth = 5,
                                           .height = 11,
                                           .width = 7}});
}
