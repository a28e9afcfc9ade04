#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static void signs(at::Tensor& out, at::Generator& rng) { out.bernoulli_(0.5, rng).mul_(2).sub_(1); }

static auto tensors(const Sizes& s) {
  return std::tuple{
      input<real>("predictions", {s.batch_size, s.input_shape[0]}).with(scaled(spiked(), 0.25, 4)),
      input<real>("targets", {s.batch_size}).with(signs).upstream(signs).only(),
      output<real>("loss", {})};
}

static Tensor reference(const Sizes&, Tensor predictions, Tensor targets) {
  return at::mean(at::clamp(at::rsub(predictions * targets, 1), /*min=*/0));
}

Task kb::task() {
  return define<decltype(launch)>("Loss", tensors, reference,
                                  {.smoke = {.batch_size = 64, .input_shape = {64}},
                                   .odd = {.batch_size = 61, .input_shape = {61}}});
}
