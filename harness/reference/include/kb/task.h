// A task free of its types: what judge, timer and tools work with.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kb/sizes.h"
#include "kb/tensors.h"

#define KB_EXPORT __attribute__((visibility("default")))

namespace kb {

using at::Tensor;

/// What an algorithm needs for one call where that is less than what is counted by default: every
/// declared tensor once, and the reference's own arithmetic. Counted in full otherwise.
struct LeastWork {
  std::optional<double> bytes;
  std::optional<double> flops;  ///< a multiplication and an addition are two
};

struct Task {
  std::string name;      ///< "level1/019_relu"
  std::string category;  ///< upstream's kind of operator, as in tasks.json's `category`
  SizeFields fields;
  SizeBytes smoke, odd, full;
  /// All tensors at these sizes: inputs, weights (table entries too), unread state, outputs.
  std::function<std::vector<TensorSpec>(const SizeBytes&)> tensors;
  /// Upstream's forward(). Takes inputs then weights in the order of tensors(), on one device, in
  /// fp32 or fp64; returns the outputs.
  std::function<std::vector<Tensor>(const SizeBytes&, const std::vector<Tensor>&)> reference;
  /// True if the weights travel as one kb::Weights instead of one pointer each.
  bool weight_table = false;
  /// Why this task accepts a trivial answer under any inputs of these shapes; empty if it accepts
  /// none. Its right candidates get the verdict `degenerate` instead of `pass`.
  std::string degenerate;

  /// Empty for almost all tasks: what is counted is what is needed.
  std::function<LeastWork(const SizeBytes&)> least_work;

  /// Declares least_work: `return define(...).needing(least)` with a function of the task's Sizes.
  template <class Sizes>
  Task needing(LeastWork (*least)(const Sizes&)) && {
    least_work = [least](const SizeBytes& sizes) { return least(sizes_from<Sizes>(sizes)); };
    return std::move(*this);
  }

  /// Empty for almost all tasks: what upstream's module does with its weights when it is moved to a
  /// device, and not in forward(). May replace what a tensor holds (set_()), not its values.
  std::function<void(const SizeBytes&, const std::vector<Tensor>& weights)> settle_weights;

  /// Declares settle_weights: `return define(...).settling(settle)` with a function of the task's
  /// Sizes and its weights in the order of tensors().
  template <class Sizes>
  Task settling(void (*settle)(const Sizes&, const std::vector<Tensor>&)) && {
    settle_weights = [settle](const SizeBytes& sizes, const std::vector<Tensor>& weights) {
      settle(sizes_from<Sizes>(sizes), weights);
    };
    return std::move(*this);
  }

  /// Settles the weights among what reference() is going to take.
  void settle(const SizeBytes& sizes, const std::vector<Tensor>& given) const;

  /// What reference() takes at these sizes: the inputs, then the weights.
  std::vector<TensorSpec> given(const SizeBytes& sizes) const;
  /// Default values of what reference() takes, in its order.
  std::vector<Tensor> example(const SizeBytes& sizes, at::Device device = at::kCPU,
                              uint64_t rng_seed = 1) const;
  int level() const;         ///< 1..4, from the name
  std::string slug() const;  ///< "019_relu"
};

/// The one symbol that a reference library exports; every reference.cpp defines it.
KB_EXPORT Task task();

}  // namespace kb
