// Defaults of tensor declarations.
#include "kb/tensors.h"

#include <functional>
#include <numeric>

namespace kb {

const char* dtype_name(at::ScalarType dtype) {
  switch (dtype) {
    case at::kFloat:
      return "float32";
    case at::kDouble:
      return "float64";
    case at::kHalf:
      return "float16";
    case at::kBFloat16:
      return "bfloat16";
    case at::kLong:
      return "int64";
    case at::kInt:
      return "int32";
    case at::kBool:
      return "bool";
    default:
      TORCH_CHECK(false, "tasks do not use ", toString(dtype));
  }
}

int64_t TensorSpec::numel() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

int64_t TensorSpec::bytes() const {
  return numel() * static_cast<int64_t>(c10::elementSize(dtype));
}

void TensorSpec::draw(at::Tensor& out, InputKind kind, at::Generator& rng) const {
  const Fill& values = kind == InputKind::standard ? fill : compat;
  TORCH_CHECK(values != nullptr, "tensor '", name, "' needs .with() and .upstream()");
  draw_values(out, values, rng);
}

void draw_values(at::Tensor& out, const Fill& values, at::Generator& rng) {
  if (out.scalar_type() == at::kHalf || out.scalar_type() == at::kBFloat16) {
    at::Tensor exact = at::empty(out.sizes(), out.options().dtype(at::kFloat));
    values(exact, rng);
    out.copy_(exact);
  } else {
    values(out, rng);
  }
}

namespace detail {

TensorSpec default_input(std::string name, at::ScalarType dtype, Shape shape) {
  TensorSpec spec{std::move(name), Role::input, dtype, std::move(shape), {}, {}};
  if (at::isFloatingType(dtype)) {
    spec.fill = spiked();
    spec.compat = uniform();
  }
  return spec;
}

TensorSpec default_weight(std::string name, at::ScalarType dtype, Shape shape) {
  TensorSpec spec{std::move(name), Role::weight, dtype, std::move(shape), {}, {}};
  if (spec.shape.size() >= 2) {
    const int64_t fan_in = spec.numel() / std::max<int64_t>(spec.shape[0], 1);
    spec.fill = fan_in_normal(fan_in);
    spec.compat = fan_in_uniform(fan_in);
  } else if (spec.name.ends_with("bias")) {
    spec.fill = normal(0.0, 0.5);
    spec.compat = constant(0);
  } else {
    spec.fill = normal(1.0, 0.25);
    spec.compat = constant(1);
  }
  return spec;
}

}  // namespace detail

}  // namespace kb
