// Outputs of gigabytes are read once by one kernel; integers take the full comparison.
#include "judge/acceptance/quick_check.h"

#include <c10/cuda/CUDAStream.h>

#include <cmath>

#include "judge/acceptance/deviation.h"

namespace kb {

bool surely_right(const TensorSpec& spec, const at::Tensor& got, const at::Tensor& expected,
                  const Tolerance& tolerance) {
  if (!at::isFloatingType(spec.dtype) || got.scalar_type() != spec.dtype ||
      expected.scalar_type() != spec.dtype || !got.is_contiguous() || !expected.is_contiguous() ||
      spec.numel() == 0) {
    return !compare_output(spec, got, expected, tolerance).worst;
  }
  const int64_t rows = spec.shape.size() < 2 ? 1 : spec.shape[0], columns = spec.numel() / rows;
  const at::Tensor rms = at::linalg_vector_norm(expected.view({rows, columns}), 2,
                                                at::IntArrayRef{1}, false, at::kDouble)
                             .mul_(tolerance.per_rms / std::sqrt(static_cast<double>(columns)))
                             .to(at::kFloat);
  const auto measure = [&](const auto* element) {
    using T = std::remove_pointer_t<decltype(element)>;
    return measure_deviation(static_cast<T*>(got.const_data_ptr()),
                             static_cast<T*>(expected.const_data_ptr()), spec.numel(),
                             static_cast<float>(tolerance.per_value), rms.const_data_ptr<float>(),
                             columns, c10::cuda::getCurrentCUDAStream().stream());
  };
  const Deviation d = spec.dtype == at::kHalf ? measure(static_cast<const __half*>(nullptr))
                      : spec.dtype == at::kBFloat16
                          ? measure(static_cast<const __nv_bfloat16*>(nullptr))
                          : measure(static_cast<const float*>(nullptr));
  return d.not_finite == 0 && d.max_excess <= 0 &&
         std::sqrt(d.error_squared) <= tolerance.relative * std::sqrt(d.expected_squared);
}

}  // namespace kb
