#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const Shape shape = {s.batch_size, s.input_shape[0]};
  const Fill values = scaled(spiked(), 0.25, 4);
  return std::tuple{
      input<real>("predictions", shape).with(values).upstream(scaled(uniform(), 0, 1)),
      input<real>("targets", shape).with(values), output<real>("loss", {})};
}

static Tensor reference(const Sizes&, Tensor predictions, Tensor targets) {
  return at::mean(at::pow(predictions - targets, 2));
}

Task kb::task() {
  return define<decltype(launch)>("Loss", tensors, reference,
                                  {.smoke = {.batch_size = 64, .input_shape = {64}},
                                   .odd = {.batch_size = 127, .input_shape = {523}}});
}
