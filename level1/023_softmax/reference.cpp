#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static auto tensors(const Sizes& s) {
  const Shape shape = {s.batch_size, s.dim};
  // A deviation of 3 keeps many elements of a row relevant; the mean shows who skips the maximum.
  return std::tuple{input<real>("x", shape).with(normal(100, 3)), output<real>("y", shape)};
}

static Tensor reference(const Sizes&, Tensor x) { return at::softmax(x, 1); }

Task kb::task() {
  return define<decltype(launch)>(
      "Reduction-Scan", tensors, reference,
      {.smoke = {.batch_size = 16, .dim = 1536}, .odd = {.batch_size = 7, .dim = 1021}});
}
