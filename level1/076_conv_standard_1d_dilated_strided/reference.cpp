#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_channels, s.length}),
                    weight<real>("conv1d.weight", {s.out_channels, s.in_channels, s.kernel_size}),
                    output<real>("y", {s.batch_size, s.out_channels, s.out_length()})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor weight) {
  return at::conv1d(x, weight, {}, s.stride, at::IntArrayRef{0}, s.dilation);
}

Task kb::task() {
  return define<decltype(launch)>("Convolution", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 8,
                                             .out_channels = 16,
                                             .kernel_size = 3,
                                             .length = 258,
                                             .stride = 3,
                                             .dilation = 4},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 67,
                                           .kernel_size = 4,
                                           .length = 1001,
                                           .stride = 2,
                                           .dilation = 5}});
}
