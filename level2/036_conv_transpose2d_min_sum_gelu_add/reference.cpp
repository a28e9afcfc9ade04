#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

// Sums of minima would all be far below zero, where GELU is 0. Here each column has its own mean,
// whose sign decides that of the sum, because weights are rather positive than not; and the sums
// are of the order of 1.
static void uneven_columns(at::Tensor& x, at::Generator& rng) {
  x.normal_(0, 0.25, rng);
  x.add_(at::empty({x.size(0), 1, 1, x.size(3)}, x.options()).uniform_(-1, 1.5, rng));
  x.div_(x.size(2));
}

static auto tensors(const Sizes& s) {
  const int64_t k = s.kernel_size, rows = s.height, terms = s.in_channels * k * k;
  const Fill upstream = fan_in_uniform(s.out_channels * k * k);
  const double unit = 1 / std::sqrt(static_cast<double>(terms));
  return std::tuple{
      input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}).with(uneven_columns),
      weight<real>("bias", {1, 1, 1}).with(normal()).upstream(normal()),
      weight<real>("conv_transpose.weight", {s.in_channels, s.out_channels, k, k})
          .with(normal(unit / 2, unit)),
      weight<real>("conv_transpose.bias", {s.out_channels})
          .with(normal(0, 0.25 / static_cast<double>(rows)))
          .upstream(upstream),
      output<real>("y", {s.batch_size, 1, 1, s.out_width()})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor bias, Tensor weight, Tensor conv_bias) {
  const at::IntArrayRef stride = s.stride, padding = s.padding, output_padding = s.output_padding;
  x = at::conv_transpose2d(x, weight, conv_bias, stride, padding, output_padding);
  x = std::get<0>(at::min(x, 1, /*keepdim=*/true));
  x = at::sum(x, 2, /*keepdim=*/true);
  return at::gelu(x) + bias;
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-ConvTranspose", tensors, reference,
      {.smoke = {.batch_size = 2, .in_channels = 8, .out_channels = 16, .height = 12, .width = 12},
       .odd = {.batch_size = 3,
               .in_channels = 5,
               .out_channels = 19,
               .height = 11,
               .width = 17,
               .kernel_size = 4,
               .stride = 3,
               .padding = 2,
               .output_padding = 2}});
}
