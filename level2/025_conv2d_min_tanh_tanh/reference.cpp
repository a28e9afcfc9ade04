#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

// Every sample has its own spread.
static void varied(Tensor& x, at::Generator& rng) {
  x.normal_(0, 1, rng);
  x.mul_(at::empty({x.size(0), 1, 1, 1}, x.options()).uniform_(-3, 1, rng).exp2_());
}

static auto tensors(const Sizes& s) {
  const int64_t k = s.kernel_size;
  // The minimum of many channels is near zero, where tanh is not flat.
  return std::tuple{input<real>("x", {s.batch_size, s.in_channels, s.height, s.width}).with(varied),
                    weight<real>("conv.weight", {s.out_channels, s.in_channels, k, k}),
                    weight<real>("conv.bias", {s.out_channels})
                        .with(normal(1.5, 0.5))
                        .upstream(fan_in_uniform(s.in_channels * k * k)),
                    output<real>("y", {s.batch_size, 1, s.height - k + 1, s.width - k + 1})};
}

static Tensor reference(const Sizes&, Tensor x, Tensor conv_weight, Tensor conv_bias) {
  x = at::conv2d(x, conv_weight, conv_bias);
  return at::tanh(at::tanh(std::get<0>(at::min(x, 1, /*keepdim=*/true))));
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-Conv", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 4,
                                             .out_channels = 24,
                                             .height = 18,
                                             .width = 18,
                                             .kernel_size = 3},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 19,
                                           .height = 13,
                                           .width = 17,
                                           .kernel_size = 2}});
}
