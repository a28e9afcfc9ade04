// Both runs of the reference, and the choice between the ways of comparing.
#include "acceptance/expectation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "acceptance/drawn_sizes.h"
#include "acceptance/operators.h"
#include "acceptance/rounding.h"

namespace kb {

std::vector<at::Tensor> in_fp64(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> out;
  for (const at::Tensor& t : tensors) {
    out.push_back(at::isFloatingType(t.scalar_type()) ? t.to(at::kDouble) : t);
  }
  return out;
}

std::vector<at::Tensor> on_host(std::vector<at::Tensor> tensors, bool wanted) {
  if (!wanted) return tensors;
  for (at::Tensor& t : tensors) t = t.to(at::kCPU);
  return tensors;
}

std::vector<Expected> oracle_of(const Task& task, const SizeBytes& sizes,
                                const std::vector<at::Tensor>& given, const OraclePlan& plan,
                                const Change& change) {
  if (plan.slicing) return plan.slicing->oracle(task, sizes, given, change);
  std::vector<at::Tensor> exact = in_fp64(on_host(given, plan.oracle_on_host));
  for (size_t i = 0; change && i < exact.size(); ++i) exact[i] = change(i, exact[i], 0, 0);
  const std::vector<at::Tensor> outputs = task.reference(sizes, exact);
  return {outputs.begin(), outputs.end()};
}

namespace {

// Relative error of an output that says nothing any more.
constexpr double everything = 1.0 / 16;

// How many terms the sums behind an element of the outputs have, where one operator sums: pairs of
// elements that meet in products, or all inputs. Nobody has one thread add more than some thousands
// of inputs. A network sums again and again, and what is off in one layer is normalised in the
// next.
double terms_of_sums(const Task& task, const SizeBytes& sizes, const Operators& operators) {
  if (weights_read(task) >= weights_of_network) return 0;
  double inputs = 0, outputs = 0;
  for (const TensorSpec& spec : task.tensors(sizes)) {
    if (spec.role == Role::input) inputs += static_cast<double>(spec.numel());
    if (spec.role == Role::output) outputs += static_cast<double>(spec.numel());
  }
  outputs = std::max(outputs, 1.0);
  return std::max(operators.flops / 2 / outputs, std::min(inputs / outputs, 0x1p14));
}

constexpr double input_roundings = 8;

// One thread that adds n terms in floats, one after the other, is off by up to half of
// sqrt(n) roundings if their directions are random. So are right kernels, whatever the library
// does.
// @param rounding  of what is added, in units of the sum
Tolerance tolerance_of_sum(double terms, double rounding = float_roundoff) {
  const double relative = std::sqrt(std::min(terms, 0x1p20)) * rounding;
  return {.relative = relative, .per_rms = 12 * relative, .per_value = 4 * relative};
}

// The tolerances that rounding every matrix among inputs and weights to TF32 asks for. Relative
// errors hardly depend on the sizes, so the smallest will do, on the CPU. Vectors (biases, scales)
// are no operands of products.
std::vector<Tolerance> rounding_tolerances(const Task& task) {
  std::vector<at::Tensor> given = task.example(task.smoke);
  const std::vector<at::Tensor> exact = task.reference(task.smoke, in_fp64(given));
  for (at::Tensor& t : given) {
    if (at::isFloatingType(t.scalar_type()) && t.dim() > 1) t = rounded_to_tf32(t);
  }
  const std::vector<at::Tensor> rounded = task.reference(task.smoke, in_fp64(given));
  std::vector<Tolerance> tolerances;
  for (const TensorSpec& spec : task.tensors(task.smoke)) {
    if (spec.role != Role::output) continue;
    const size_t i = tolerances.size();
    tolerances.push_back(tolerance_of(spec, rounded.at(i), exact.at(i)));
  }
  return tolerances;
}

}  // namespace

bool is_little(const Comparison& wrong) {
  constexpr double little = 64;
  return wrong.error < little * wrong.bound;
}

bool says_something(const at::Tensor& library, const Tolerance& tolerance) {
  return !at::isFloatingType(library.scalar_type()) ||
         (at::isfinite(library).all().item<bool>() && tolerance.library_error < everything &&
          tolerance.relative < 8 * everything);
}

bool rounding_decides(const Tolerance& cost) { return !(cost.relative < everything); }

namespace {

// A factor for a whole tensor. A sum of n nearly equal floats, one by one, was seen to be off by
// n/10 to n/6 roundings; tolerances are eight times what is measured, so n/32 allows n/4.
at::Tensor one_sided(const at::Tensor& t, at::Generator& rng) {
  constexpr int64_t longest_sum = 1 << 14;
  const int64_t per_sample = t.dim() > 1 && t.size(0) > 0 ? t.numel() / t.size(0) : t.numel();
  const double share = static_cast<double>(std::min(per_sample, longest_sum)) / 32 * float_roundoff;
  const at::Tensor sign = at::empty({}, t.options()).uniform_(-1, 1, rng).sign_();
  return 1 + share * sign;
}

}  // namespace

std::vector<at::Tensor> outputs_of_rounded(const Task& task, const SizeBytes& sizes,
                                           std::vector<at::Tensor> exact, Rounding rounding,
                                           at::Generator& rng) {
  constexpr double roundings = input_roundings * float_roundoff;
  for (at::Tensor& t : exact) {
    if (!at::isFloatingType(t.scalar_type())) continue;
    t = t * at::empty_like(t).uniform_(1 - roundings, 1 + roundings, rng);
    if (rounding == Rounding::together) t = t * one_sided(t, rng);
  }
  return task.reference(sizes, exact);
}

Expectation::Expectation(const Task& task, const SizeBytes& sizes, std::vector<at::Tensor> given,
                         const OraclePlan& plan)
    : given_(std::move(given)), plan_(plan) {
  const Operators operators =
      watch_operators([&] { library_ = on_host(task.reference(sizes, given_), plan.on_host); });
  oracle_ = oracle_of(task, sizes, given_, plan);
  terms_ = terms_of_sums(task, sizes, operators);
  if (may_round_to_tf32(task)) rounding_ = rounding_tolerances(task);
  for (const TensorSpec& spec : task.tensors(sizes)) {
    if (spec.role == Role::input) inputs_.push_back(spec);
    if (spec.role == Role::output) outputs_.push_back(spec);
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    TORCH_CHECK(library_.at(i).sizes() == c10::IntArrayRef(outputs_[i].shape) &&
                    oracle_.at(i).numel() == library_[i].numel(),
                task.name, ": output '", outputs_[i].name,
                "' is declared with another shape than reference() returns");
  }
}

std::vector<Expected> Expectation::exact_with(const Task& task, const SizeBytes& sizes,
                                              const Change& change) const {
  return oracle_of(task, sizes, given_, plan_, change);
}

bool Expectation::is_short_of_memory() const {
  return plan_.slicing || plan_.on_host || plan_.oracle_on_host;
}

at::Tensor Expectation::oracle(size_t output) const {
  const Expected& oracle = oracle_.at(output);
  return oracle.range(0, oracle.numel()).view(outputs_[output].shape);
}

Tolerance Expectation::tolerance(size_t output) const {
  return allowed(output, tolerance_of(outputs_.at(output), library(output), oracle_.at(output)));
}

Tolerance Expectation::allowed(size_t output, const Tolerance& own) const {
  const bool is_floating = at::isFloatingType(outputs_.at(output).dtype);
  const Tolerance of_sums = is_floating ? wider(own, tolerance_of_sum(terms_)) : own;
  return rounding_.empty() ? of_sums : wider(of_sums, rounding_.at(output));
}

Tolerance Expectation::cost_of_rounding(size_t output, Rounding rounding,
                                        const Tolerance& moved) const {
  if (rounding == Rounding::together || !at::isFloatingType(outputs_.at(output).dtype)) {
    return moved;
  }
  return wider(moved, tolerance_of_sum(terms_, moved.library_error / input_roundings));
}

Comparison Expectation::compare(size_t output, const at::Tensor& got) const {
  const TensorSpec& spec = outputs_.at(output);
  if (!spec.argument_of) return compare_output(spec, got, oracle_.at(output), tolerance(output));
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].name == spec.argument_of->input) {
      return compare_argument(spec, got, oracle_.at(output), given_[i]);
    }
  }
  TORCH_CHECK(false, "output '", spec.name, "' names positions in '", spec.argument_of->input,
              "', which is no input");
}

void Expectation::allow_for_rounding(const Task& task, const SizeBytes& sizes, at::Generator& rng,
                                     Rounding rounding) {
  const std::vector<at::Tensor> exact = in_fp64(given_);
  rounding_.resize(outputs_.size());
  for (int trial = 0; trial < rounding_trials; ++trial) {
    const std::vector<at::Tensor> outputs = outputs_of_rounded(task, sizes, exact, rounding, rng);
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const Tolerance cost = tolerance_of(outputs_[i], outputs.at(i), oracle_.at(i));
      rounding_[i] = wider(rounding_[i], cost_of_rounding(i, rounding, cost));
      if (rounding_decides(cost)) rounding_decides_ = true;
    }
  }
}

Comparison Expectation::compare_with_rounding(size_t output, const at::Tensor& got,
                                              const Task& task, const SizeBytes& sizes,
                                              at::Generator& rng) {
  Comparison first = compare(output, got);
  if (!first.worst || is_short_of_memory() || !at::isFloatingType(got.scalar_type()) ||
      !is_little(first)) {
    return first;
  }
  try {
    allow_for_rounding(task, sizes, rng);
  } catch (const c10::OutOfMemoryError&) {
    return first;
  }
  return tolerance(output).relative < everything ? compare(output, got) : first;
}

bool Expectation::library_holds() const {
  if (rounding_decides_) return false;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (!says_something(library_[i], tolerance(i)) || compare(i, library_[i]).worst) return false;
  }
  return true;
}

Comparison Expectation::compare_exact(size_t output, const at::Tensor& got) const {
  return compare_output(outputs_.at(output), got, oracle_.at(output),
                        exact_tolerance(outputs_.at(output), library(output), oracle_.at(output)));
}

}  // namespace kb
