#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static Fill probabilities(Fill logits) {
  return [=](at::Tensor& out, at::Generator& rng) {
    logits(out, rng);
    out.copy_(at::softmax(out, -1));
  };
}

static auto tensors(const Sizes& s) {
  const Shape shape = {s.batch_size, s.input_shape[0]};
  const Fill values = probabilities(scaled(normal(), 1, 3));
  return std::tuple{
      input<real>("predictions", shape)
          .with(values)
          .upstream(probabilities(scaled(uniform(), 0, 1)))
          .only(),
      input<real>("targets", shape).with(values).upstream(probabilities(uniform())).only(),
      output<real>("loss", {})};
}

static Tensor reference(const Sizes& s, Tensor predictions, Tensor targets) {
  return at::kl_div(at::log(predictions), targets, at::Reduction::Sum) / s.batch_size;
}

Task kb::task() {
  return define<decltype(launch)>("Loss", tensors, reference,
                                  {.smoke = {.batch_size = 64, .input_shape = {64}},
                                   .odd = {.batch_size = 127, .input_shape = {131}}});
}
