// How a network declares its weights: each layer names its own, once, when it is made.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kb/tensors.h"

namespace kb {

using at::Tensor;

/// All weights of one network at one set of sizes. Does not move once layers refer to it.
class Declaration {
 public:
  Declaration() = default;
  Declaration(const Declaration&) = delete;  // layers know its address
  Declaration& operator=(const Declaration&) = delete;

  /// In the order of upstream's state_dict, unread state included.
  const std::vector<TensorSpec>& specs() const { return specs_; }
  /// Weights that a reference gets; the rest of specs() is unread.
  size_t count() const { return count_; }
  /// Lets layers see the weights of a call, which outlive it: count() tensors in the order of
  /// specs(). State is made here for each device and type of weights that is new, and kept.
  void bind(const Tensor* weights) {
    weights_ = weights;
    if (!state_specs_.empty()) state_ = state_like(weights[0]);
  }
  /// What layers do with their weights when these are moved to a device.
  void settle() const {
    for (const auto& step : settling_) step();
  }

 private:
  friend class Scope;
  const Tensor* state_like(const Tensor& weight);

  std::vector<TensorSpec> specs_;
  size_t count_ = 0;
  const Tensor* weights_ = nullptr;
  std::vector<TensorSpec> state_specs_;
  const Tensor* state_ = nullptr;
  std::list<std::vector<Tensor>> made_;  // a weight's device and type, then the state like it
  std::vector<std::function<void()>> settling_;
};

/// One weight of a layer, or a piece of its state, or none: then it is an undefined tensor.
class Parameter {
 public:
  Parameter() = default;
  const Tensor& operator*() const {
    static const Tensor undefined;
    return all_ == nullptr ? undefined : (*all_)[index_];
  }
  operator const Tensor&() const { return **this; }
  const Tensor* operator->() const { return &**this; }
  bool defined() const { return all_ != nullptr; }

 private:
  friend class Scope;
  Parameter(const Tensor* const* all, size_t index) : all_(all), index_(index) {}
  const Tensor* const* all_ = nullptr;  // where a Declaration says what is bound
  size_t index_ = 0;
};

/// The place of a layer in the network: the beginning of its weights' names in upstream's
/// state_dict. `net["layer1"][0]["conv1"]` is "layer1.0.conv1".
class Scope {
 public:
  explicit Scope(Declaration& all) : all_(&all) {}
  Scope operator[](const std::string& name) const { return {all_, path(name), has_effect_}; }
  Scope operator[](int64_t index) const { return (*this)[std::to_string(index)]; }

  /// Declares a weight, with the default values of weight<T>().
  Parameter weight(const std::string& name, Shape shape) const;
  /// Declares a weight with values of its own. @param upstream PyTorch's initialisation
  Parameter weight(const std::string& name, Shape shape, Fill fill, Fill upstream) const;
  /// Declares a registered buffer that forward() reads: a table or a mask that the module computes,
  /// so the judge draws no other values for it.
  Parameter buffer(const std::string& name, Shape shape, Fill fill, Fill upstream) const;
  /// Declares a buffer that is no weight of the contract: a running statistic, a counter, a table
  /// of indices. The reference makes it with these values, and calls may write to it: no result
  /// may depend on what an earlier call has left. Reals are of the weights' type.
  Parameter state(const std::string& name, Shape shape, at::ScalarType dtype, Fill values) const;
  /// The same of a tensor that upstream keeps outside its state_dict.
  Parameter attribute(Shape shape, at::ScalarType dtype, Fill values) const;
  /// The same place for a layer that no result depends on: its weights are state.
  Scope without_effect() const;
  /// Declares a parameter that upstream keeps and its forward never reads.
  void unread_weight(const std::string& name, Shape shape) const;
  /// What has to be done when weights are moved to a device, as nn.LSTM gathers its own there.
  void when_settled(std::function<void()> step) const;

 private:
  Scope(Declaration* all, std::string path, bool has_effect)
      : all_(all), path_(std::move(path)), has_effect_(has_effect) {}
  std::string path(const std::string& name) const {
    return path_.empty() ? name : path_ + "." + name;
  }
  Parameter add(TensorSpec spec) const;
  Parameter keep(TensorSpec spec) const;

  Declaration* all_;
  std::string path_;
  bool has_effect_ = true;
};

/// The weights of a network in tensors(), as weights<Model>() makes them. launch() gets them as one
/// kb::Weights or, where it says so, as one pointer each; reference() gets `const Model&`.
template <class Model>
struct ModelWeights {
  std::shared_ptr<Declaration> declaration;
  std::shared_ptr<const Model> model;
};

/// Makes the network, `Model{scope, args...}`, and with it the list of its weights.
template <class Model, class... Args>
ModelWeights<Model> weights(const Args&... args) {
  auto declaration = std::make_shared<Declaration>();
  auto model = std::make_shared<const Model>(Model{Scope(*declaration), args...});
  return {std::move(declaration), std::move(model)};
}

}  // namespace kb
