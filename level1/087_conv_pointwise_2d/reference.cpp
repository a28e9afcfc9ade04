#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}),
                    weight<real>("conv1d.weight", {s.out_channels, s.in_channels, 1, 1}),
                    output<real>("y", {s.batch_size, s.out_channels, s.height, s.width})};
}

static Tensor reference(const Sizes&, Tensor x, Tensor weight) { return at::conv2d(x, weight); }

Task kb::task() {
  return define<decltype(launch)>("Convolution", tensors, reference,
                                  {.smoke = {2, 8, 16, 32, 32}, .odd = {3, 23, 67, 19, 29}});
}
