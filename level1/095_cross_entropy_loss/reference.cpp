#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const Fill classes = integers(0, s.num_classes);
  return std::tuple{input<real>("predictions", {s.batch_size, s.num_classes}),
                    input<int64_t>("targets", {s.batch_size}).with(classes).upstream(classes),
                    output<real>("loss", {})};
}

static Tensor reference(const Sizes&, Tensor predictions, Tensor targets) {
  return at::cross_entropy_loss(predictions, targets);
}

Task kb::task() {
  return define<decltype(launch)>("Loss", tensors, reference,
                                  {.smoke = {.batch_size = 64, .num_classes = 128},
                                   .odd = {.batch_size = 37, .num_classes = 1009}});
}
