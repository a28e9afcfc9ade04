#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.length}),
      weight<real>("conv1d.weight", {s.out_channels, s.in_channels, s.kernel_size}),
      output<real>("y", {s.batch_size, s.out_channels, s.length - s.kernel_size + 1})};
}

static Tensor reference(const Sizes&, Tensor x, Tensor weight) { return at::conv1d(x, weight); }

Task kb::task() {
  return define<decltype(launch)>("Convolution", tensors, reference,
                                  {.smoke = {2, 8, 16, 3, 256}, .odd = {3, 5, 67, 4, 601}});
}
