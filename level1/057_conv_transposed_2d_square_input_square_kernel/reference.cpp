#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const int64_t k = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}),
      weight<real>("conv_transpose2d.weight", {s.in_channels, s.out_channels, k, k}),
      output<real>("y", {s.batch_size, s.out_channels, s.height + k - 1, s.width + k - 1})};
}

static Tensor reference(const Sizes&, Tensor x, Tensor weight) {
  return at::conv_transpose2d(x, weight);
}

Task kb::task() {
  return define<decltype(launch)>("ConvTranspose", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 8,
                                             .out_channels = 8,
                                             .kernel_size = 3,
                                             .height = 24,
                                             .width = 24},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 67,
                                           .kernel_size = 4,
                                           .height = 19,
                                           .width = 23}});
}
