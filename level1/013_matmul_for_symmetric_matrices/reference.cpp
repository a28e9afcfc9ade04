#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static Fill symmetric(Fill values) {
  return [values](at::Tensor& out, at::Generator& rng) {
    values(out, rng);
    out.copy_((out + out.t()) / 2);
  };
}

static auto tensors(const Sizes& s) {
  const Shape square = {s.N, s.N};
  const Fill values = symmetric(spiked()), upstream = symmetric(uniform());
  return std::tuple{input<real>("a", square).with(values).upstream(upstream).only(),
                    input<real>("b", square).with(values).upstream(upstream).only(),
                    output<real>("c", square)};
}

static Tensor reference(const Sizes&, Tensor a, Tensor b) { return at::matmul(a, b); }

// Half of a symmetric matrix is all of it.
static LeastWork least(const Sizes& s) {
  const auto n = static_cast<double>(s.N), element = 1.0 * elementSize(dtype_of<real>);
  return {.bytes = element * (n * (n + 1) + n * n)};
}

Task kb::task() {
  return define<decltype(launch)>("MatMul", tensors, reference,
                                  {.smoke = {.N = 96}, .odd = {.N = 263}})
      .needing(least);
}
