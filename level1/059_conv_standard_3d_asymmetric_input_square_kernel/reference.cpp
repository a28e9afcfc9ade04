#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const int64_t k = s.kernel_size;
  return std::tuple{input<real>("x", {s.batch_size, s.in_channels, s.height, s.width, s.depth}),
                    weight<real>("conv3d.weight", {s.out_channels, s.in_channels, k, k, 1}),
                    output<real>("y", {s.batch_size, s.out_channels, s.height - k + 1,
                                       s.width - k + 1, s.depth})};
}

static Tensor reference(const Sizes&, Tensor x, Tensor weight) { return at::conv3d(x, weight); }

Task kb::task() {
  return define<decltype(launch)>("Convolution", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 3,
                                             .out_channels = 8,
                                             .kernel_size = 3,
                                             .width = 16,
                                             .height = 16,
                                             .depth = 5},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 67,
                                           .kernel_size = 2,
                                           .width = 13,
                                           .height = 11,
                                           .depth = 7}});
}
