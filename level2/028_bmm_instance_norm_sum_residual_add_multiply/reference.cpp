#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const Shape y = {s.batch_size, s.out_features};
  // Biases with a mean, so that the mean of each row counts.
  return std::tuple{input<real>("x", {s.batch_size, s.in_features}),
                    input<real>("y", y).with(normal()),
                    weight<real>("bmm.weight", {s.out_features, s.in_features}),
                    weight<real>("bmm.bias", {s.out_features})
                        .with(normal(1, 0.5))
                        .upstream(fan_in_uniform(s.in_features)),
                    output<real>("z", y)};
}

static Tensor reference(const Sizes&, Tensor x, Tensor y, Tensor weight, Tensor bias) {
  x = at::linear(x, weight, bias);
  x = at::instance_norm(x.unsqueeze(1).unsqueeze(1), {}, {}, {}, {}, /*use_input_stats=*/true,
                        /*momentum=*/0.1, /*eps=*/1e-5, /*cudnn_enabled=*/true)
          .squeeze(1)
          .squeeze(1);
  x = x + y;
  return x * y;
}

Task kb::task() {
  return define<decltype(launch)>(
      "Fusion-MatMul", tensors, reference,
      {.smoke = {.batch_size = 16, .in_features = 256, .out_features = 192},
       .odd = {.batch_size = 7, .in_features = 131, .out_features = 109}});
}
