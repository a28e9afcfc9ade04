#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  ConvTranspose2d conv{net["conv_transpose"],
                       s.in_channels,
                       s.out_channels,
                       s.kernel_size,
                       {.stride = s.stride, .padding = s.padding}};
};

// Each channel of a sample has its own mean, or else all samples would have nearly the same means;
// about half of the maxima are beyond the bounds of the clamp.
static void with_offsets(at::Tensor& x, at::Generator& rng) {
  x.normal_(0, 1, rng);
  x.add_(at::empty({x.size(0), x.size(1), 1, 1}, x.options()).uniform_(-1, 1, rng));
}

static auto tensors(const Sizes& s) {
  const Shape x = {s.batch_size, s.in_channels, s.height, s.width};
  return std::tuple{input<real>("x", x).with(with_offsets), weights<Network>(s),
                    output<real>("y", {s.batch_size, s.out_channels, 1, 1})};
}

static Tensor reference(const Sizes& s, Tensor x, const Network& n) {
  x = at::max_pool2d(n.conv(x), s.maxpool_kernel_size, s.maxpool_stride);
  x = at::hardtanh(x, s.hardtanh_min, s.hardtanh_max);
  return at::tanh(at::mean(x, {2, 3}, /*keepdim=*/true));
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-ConvTranspose", tensors, reference,
      {.smoke = {.batch_size = 2, .in_channels = 8, .out_channels = 16, .height = 16, .width = 16},
       .odd = {.batch_size = 3,
               .in_channels = 5,
               .out_channels = 19,
               .height = 11,
               .width = 17,
               .kernel_size = 4,
               .stride = 2,
               .padding = 2,
               .maxpool_kernel_size = 3,
               .maxpool_stride = 3,
               .hardtanh_min = -0.5,
               .hardtanh_max = 0.75}});
}
