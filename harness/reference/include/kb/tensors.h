// Declarations of a task's tensors: input<T>(), weight<T>(), output<T>() and what they carry.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kb/contract.h"
#include "kb/fill.h"

namespace kb {

using Shape = std::vector<int64_t>;

/// New values; 16-bit types get those of fp32, rounded.
void draw_values(at::Tensor& out, const Fill& values, at::Generator& rng);

/// What a tensor is to the task. `unread` state is part of upstream's state_dict but no result
/// depends on it (BatchNorm's running statistics in training mode): listed, never passed on.
enum class Role { input, weight, unread, output };

/// Which values tensors get: ours, or upstream's.
enum class InputKind { standard, compat };

/// An integer output that names where an extremum of `input` along `dim` lies. Any position that
/// holds the extremum's exact value is right, so ties cannot fail an honest candidate.
struct ArgumentOf {
  std::string input;
  int64_t dim;
};

/// "float32", "int64", "bool", ...: the names of torch and of safetensors' converters.
const char* dtype_name(at::ScalarType dtype);

/// The type of a tensor whose elements are T to launch().
template <class T>
inline constexpr at::ScalarType dtype_of = c10::CppTypeToScalarType<T>::value;
template <>
inline constexpr at::ScalarType dtype_of<__half> = at::kHalf;
template <>
inline constexpr at::ScalarType dtype_of<__nv_bfloat16> = at::kBFloat16;

/// One tensor: its name (weights: upstream's state_dict name), role, type, shape and fills.
struct TensorSpec {
  std::string name;
  Role role;
  at::ScalarType dtype;
  Shape shape;
  Fill fill;            ///< default values, hard to fake
  Fill compat;          ///< upstream's values
  bool buffer = false;  ///< registered as a buffer upstream, not as a parameter
  bool restricted =
      false;  ///< an input whose domain is what `fill` and `compat` draw, nothing else
  std::optional<ArgumentOf> argument_of;

  int64_t numel() const;
  int64_t bytes() const;
  /// New values for a tensor of this shape. @throws c10::Error if the task declares none
  void draw(at::Tensor& out, InputKind kind, at::Generator& rng) const;
};

/// A TensorSpec that remembers its C++ element type, so that signatures are checked when compiling.
template <class T, Role R>
struct Typed : TensorSpec {
  using Element = T;
  static constexpr Role role_of = R;

  Typed with(Fill values) && {
    fill = std::move(values);
    return std::move(*this);
  }
  Typed upstream(Fill values) && {
    compat = std::move(values);
    return std::move(*this);
  }
  /// Real numbers of other kinds are outside of the task's domain: probabilities, signs, matrices
  /// of one form. Without it the judge draws any (acceptance/families.h).
  Typed only() && {
    restricted = true;
    return std::move(*this);
  }
  Typed argument(std::string input, int64_t dim) && {
    argument_of = ArgumentOf{std::move(input), dim};
    return std::move(*this);
  }
};

namespace detail {
/// Defaults by rank and name: matrices keep the gain of their layer, vectors vary around 1
/// (`...weight`) or 0 (`...bias`), so that skipping any of them shows.
TensorSpec default_weight(std::string name, at::ScalarType dtype, Shape shape);
TensorSpec default_input(std::string name, at::ScalarType dtype, Shape shape);
}  // namespace detail

/// An input of forward(). Reals are filled with spiked(), upstream's with uniform(); other types
/// need .with() and .upstream().
template <class T>
Typed<T, Role::input> input(std::string name, Shape shape) {
  return {detail::default_input(std::move(name), dtype_of<T>, std::move(shape))};
}

/// A parameter, named as in upstream's state_dict. Upstream's values default to PyTorch's
/// initialisation of a layer whose fan-in is the product of all but the first dimension.
template <class T>
Typed<T, Role::weight> weight(std::string name, Shape shape) {
  return {detail::default_weight(std::move(name), dtype_of<T>, std::move(shape))};
}

/// State that upstream keeps and no result depends on. See Role::unread.
template <class T>
Typed<T, Role::unread> unread_buffer(std::string name, Shape shape) {
  TensorSpec spec{std::move(name),  Role::unread, dtype_of<T>,
                  std::move(shape), constant(0),  constant(0)};
  spec.buffer = true;
  return {std::move(spec)};
}

/// An output, written by the candidate into memory that the judge owns.
template <class T>
Typed<T, Role::output> output(std::string name, Shape shape) {
  return {TensorSpec{std::move(name), Role::output, dtype_of<T>, std::move(shape), {}, {}}};
}

}  // namespace kb
