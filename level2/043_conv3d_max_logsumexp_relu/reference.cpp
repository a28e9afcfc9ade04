#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

// Each depth has its own mean and spread, so that the result of ReLU depends on the place.
static void uneven_slices(at::Tensor& x, at::Generator& rng) {
  const auto own = [&] { return at::empty({x.size(0), 1, x.size(2), 1, 1}, x.options()); };
  x.normal_(0, 1, rng).mul_(own().uniform_(0, 1.5, rng)).add_(own().uniform_(-1, 1, rng));
}

static auto tensors(const Sizes& s) {
  const int64_t k = s.kernel_size, terms = s.in_channels * k * k * k;
  // A bias without this mean would leave ReLU nothing to do: the sums exceed 1.
  const Fill bias = normal(-1.5 - std::log(static_cast<double>(s.out_channels)), 0.5);
  const Shape x = {s.batch_size, s.in_channels, s.depth, s.height, s.width};
  return std::tuple{
      input<real>("x", x).with(uneven_slices),
      weight<real>("conv.weight", {s.out_channels, s.in_channels, k, k, k}),
      weight<real>("conv.bias", {s.out_channels}).with(bias).upstream(fan_in_uniform(terms)),
      output<real>("y", {s.batch_size, 1, s.convolved(s.depth) / 2, s.convolved(s.height) / 2,
                         s.convolved(s.width) / 2})};
}

static Tensor reference(const Sizes& s, Tensor x, Tensor weight, Tensor bias) {
  x = at::conv3d(x, weight, bias, s.stride, s.padding);
  x = at::max_pool3d(x, 2, /*stride=*/2);
  x = at::logsumexp(x, {1}, /*keepdim=*/true);
  return at::relu(x);
}

Task kb::task() {
  return define<decltype(launch)>("Fusion-Conv", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .in_channels = 4,
                                             .out_channels = 16,
                                             .depth = 8,
                                             .height = 12,
                                             .width = 12},
                                   .odd = {.batch_size = 3,
                                           .in_channels = 5,
                                           .out_channels = 19,
                                           .depth = 11,
                                           .height = 13,
                                           .width = 17,
                                           .kernel_size = 4,
                                           .stride = 2,
                                           .padding = 2}});
}
