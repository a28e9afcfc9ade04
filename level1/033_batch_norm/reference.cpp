#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

// Every feature has its own offset, so that its mean counts.
static void with_offsets(at::Tensor& x, at::Generator& rng) {
  spiked()(x, rng);
  x.add_(at::empty({1, x.size(1), 1, 1}, x.options()).uniform_(-8, 8, rng));
}

static auto tensors(const Sizes& s) {
  const Shape x = {s.batch_size, s.features, s.dim1, s.dim2}, feature = {s.features};
  return std::tuple{input<real>("x", x).with(with_offsets),
                    weight<real>("bn.weight", feature),
                    weight<real>("bn.bias", feature),
                    unread_buffer<real>("bn.running_mean", feature),
                    unread_buffer<real>("bn.running_var", feature),
                    unread_buffer<int64_t>("bn.num_batches_tracked", {}),
                    output<real>("y", x)};
}

static Tensor reference(const Sizes&, Tensor x, Tensor weight, Tensor bias) {
  return at::batch_norm(x, weight, bias, /*running_mean=*/{}, /*running_var=*/{}, /*training=*/true,
                        /*momentum=*/0.1, /*eps=*/1e-5, /*cudnn_enabled=*/true);
}

Task kb::task() {
  return define<decltype(launch)>("Normalization", tensors, reference,
                                  {.smoke = {4, 8, 16, 16}, .odd = {3, 5, 7, 11}});
}
