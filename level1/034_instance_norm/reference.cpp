#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

// Every instance has its own offset, so that its mean counts.
static void with_offsets(at::Tensor& x, at::Generator& rng) {
  spiked()(x, rng);
  x.add_(at::empty({x.size(0), x.size(1), 1, 1}, x.options()).uniform_(-8, 8, rng));
}

static auto tensors(const Sizes& s) {
  const Shape shape = {s.batch_size, s.features, s.dim1, s.dim2};
  return std::tuple{input<real>("x", shape).with(with_offsets), output<real>("y", shape)};
}

static Tensor reference(const Sizes&, Tensor x) {
  return at::instance_norm(x, /*weight=*/{}, /*bias=*/{}, /*running_mean=*/{}, /*running_var=*/{},
                           /*use_input_stats=*/true, /*momentum=*/0.1, /*eps=*/1e-5,
                           /*cudnn_enabled=*/true);
}

Task kb::task() {
  return define<decltype(launch)>(
      "Normalization", tensors, reference,
      {.smoke = {.batch_size = 7, .features = 8, .dim1 = 16, .dim2 = 16},
       .odd = {.batch_size = 3, .features = 5, .dim1 = 7, .dim2 = 11}});
}
