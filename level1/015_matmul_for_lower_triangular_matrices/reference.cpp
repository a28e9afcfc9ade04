#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static Fill lower(Fill values) {
  return [values](at::Tensor& out, at::Generator& rng) {
    values(out, rng);
    out.tril_();
  };
}

static auto tensors(const Sizes& s) {
  const Shape square = {s.M, s.M};
  const Fill values = lower(spiked()), upstream = lower(uniform());
  return std::tuple{input<real>("a", square).with(values).upstream(upstream).only(),
                    input<real>("b", square).with(values).upstream(upstream).only(),
                    output<real>("c", square)};
}

static Tensor reference(const Sizes&, Tensor a, Tensor b) { return at::tril(at::matmul(a, b)); }

// Zeros need not be read, nor multiplied; the output's are written.
static LeastWork least(const Sizes& s) {
  const auto n = static_cast<double>(s.M), element = 1.0 * elementSize(dtype_of<real>);
  return {.bytes = element * (n * (n + 1) + n * n), .flops = n * (n + 1) * (n + 2) / 3};
}

Task kb::task() {
  return define<decltype(launch)>("MatMul", tensors, reference,
                                  {.smoke = {.M = 96}, .odd = {.M = 263}})
      .needing(least);
}
