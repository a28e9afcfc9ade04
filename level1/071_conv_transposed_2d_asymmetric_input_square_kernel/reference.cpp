#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const int64_t k = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height_in, s.width_in}),
      weight<real>("conv_transpose2d.weight", {s.in_channels, s.out_channels, k, k}),
      output<real>("y", {s.batch_size, s.out_channels, s.height_in + k - 1, s.width_in + k - 1})};
}

static Tensor reference(const Sizes&, Tensor x, Tensor weight) {
  return at::conv_transpose2d(x, weight);
}

Task kb::task() {
  return define<decltype(launch)>("ConvTranspose", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 4,
                                             .out_channels = 4,
                                             .kernel_size = 3,
                                             .height_in = 16,
                                             .width_in = 32},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 37,
                                           .kernel_size = 4,
                                           .height_in = 29,
                                           .width_in = 23}});
}
