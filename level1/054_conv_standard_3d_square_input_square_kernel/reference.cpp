#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const int64_t k = s.kernel_size;
  return std::tuple{input<real>("x", {s.batch_size, s.in_channels, s.depth, s.width, s.height}),
                    weight<real>("conv3d.weight", {s.out_channels, s.in_channels, k, k, k}),
                    output<real>("y", {s.batch_size, s.out_channels, s.depth - k + 1,
                                       s.width - k + 1, s.height - k + 1})};
}

static Tensor reference(const Sizes&, Tensor x, Tensor weight) { return at::conv3d(x, weight); }

Task kb::task() {
  return define<decltype(launch)>("Convolution", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 3,
                                             .out_channels = 8,
                                             .kernel_size = 3,
                                             .depth = 10,
                                             .width = 10,
                                             .height = 10},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 67,
                                           .kernel_size = 2,
                                           .depth = 7,
                                           .width = 11,
                                           .height = 9}});
}
