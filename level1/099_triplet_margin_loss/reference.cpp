#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const Shape shape = {s.batch_size, s.input_shape[0]};
  const Fill values = scaled(spiked(), 0.25, 4);
  return std::tuple{input<real>("anchor", shape).with(values).upstream(scaled(uniform(), 0, 1)),
                    input<real>("positive", shape).with(values),
                    input<real>("negative", shape).with(values), output<real>("loss", {})};
}

static Tensor reference(const Sizes& s, Tensor anchor, Tensor positive, Tensor negative) {
  return at::triplet_margin_loss(anchor, positive, negative, s.margin);
}

Task kb::task() {
  return define<decltype(launch)>("Loss", tensors, reference,
                                  {.smoke = {.batch_size = 64, .input_shape = {256}},
                                   .odd = {.batch_size = 37, .input_shape = {251}, .margin = 0.5}});
}
