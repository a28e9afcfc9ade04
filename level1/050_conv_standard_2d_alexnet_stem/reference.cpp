#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const int64_t k = s.kernel_size;
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}),
      weight<real>("conv1.weight", {s.out_channels, s.in_channels, k, k}),
      weight<real>("conv1.bias", {s.out_channels}).upstream(fan_in_uniform(s.in_channels * k * k)),
      output<real>("y", {s.batch_size, s.out_channels, s.out_height(), s.out_width()})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor weight, Tensor bias) {
  return at::conv2d(x, weight, bias, s.stride, s.padding);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Convolution", tensors, reference,
      {.smoke = {2, 3, 12, 11, 4, 2, 35, 35}, .odd = {3, 2, 53, 5, 3, 4, 37, 29}});
}
