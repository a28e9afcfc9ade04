// Declarations of a network's weights, one after the other.
#include "kb/model.h"

#include <c10/core/InferenceMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <cmath>

namespace kb {
namespace {

// Values of a weight without effect. They take no generator, since tracers know none.
void spread(Tensor& out, at::Generator&) {
  const double step = (std::sqrt(5) - 1) / 2;  // multiples fill [0, 1) evenly
  const Tensor at = at::arange(out.numel(), out.options().dtype(at::kFloat));
  out.copy_(at.mul_(step).frac_().sub_(0.5).view(out.sizes()));
}

Tensor made(const TensorSpec& spec, const Tensor& weight) {
  const at::ScalarType type = at::isFloatingType(spec.dtype) ? weight.scalar_type() : spec.dtype;
  Tensor state = at::empty(spec.shape, weight.options().dtype(type));
  at::Generator rng = make_rng(weight.device(), 1);
  spec.fill(state, rng);
  return state;
}

}  // namespace

const Tensor* Declaration::state_like(const Tensor& weight) {
  const auto found = std::find_if(made_.begin(), made_.end(), [&](const auto& m) {
    return m[0].device() == weight.device() && m[0].scalar_type() == weight.scalar_type();
  });
  if (found != made_.end()) return found->data() + 1;
  // Whoever watches or changes operators of a call has no part in these, and state made in
  // inference mode could not be written to outside it.
  const c10::impl::ExcludeDispatchKeyGuard unseen(
      c10::DispatchKeySet({c10::DispatchKey::TESTING_ONLY_GenericMode, c10::DispatchKey::Fake}));
  const c10::InferenceMode off(false);
  std::vector<Tensor> state{at::empty({0}, weight.options())};
  for (const TensorSpec& spec : state_specs_) state.push_back(made(spec, weight));
  made_.push_back(std::move(state));
  return made_.back().data() + 1;
}

Parameter Scope::add(TensorSpec spec) const {
  all_->specs_.push_back(std::move(spec));
  return {&all_->weights_, all_->count_++};
}

Parameter Scope::keep(TensorSpec spec) const {
  all_->state_specs_.push_back(std::move(spec));
  return {&all_->state_, all_->state_specs_.size() - 1};
}

Parameter Scope::weight(const std::string& name, Shape shape) const {
  TensorSpec spec = kb::weight<real>(path(name), std::move(shape));
  if (has_effect_) return add(std::move(spec));
  spec.role = Role::unread;
  spec.fill = spread;
  all_->specs_.push_back(spec);
  return keep(std::move(spec));
}

Parameter Scope::weight(const std::string& name, Shape shape, Fill fill, Fill upstream) const {
  if (!has_effect_) return weight(name, std::move(shape));
  return add(kb::weight<real>(path(name), std::move(shape))
                 .with(std::move(fill))
                 .upstream(std::move(upstream)));
}

Parameter Scope::buffer(const std::string& name, Shape shape, Fill fill, Fill upstream) const {
  TensorSpec spec = kb::weight<real>(path(name), std::move(shape))
                        .with(std::move(fill))
                        .upstream(std::move(upstream));
  spec.buffer = true;
  spec.restricted = true;  // computed by the module, not learnt
  return add(std::move(spec));
}

Parameter Scope::state(const std::string& name, Shape shape, at::ScalarType dtype,
                       Fill values) const {
  TensorSpec spec = kb::unread_buffer<real>(path(name), std::move(shape)).with(std::move(values));
  spec.dtype = dtype;
  all_->specs_.push_back(spec);
  return keep(std::move(spec));
}

Parameter Scope::attribute(Shape shape, at::ScalarType dtype, Fill values) const {
  return keep({"", Role::unread, dtype, std::move(shape), std::move(values), {}});
}

Scope Scope::without_effect() const { return {all_, path_, false}; }

void Scope::unread_weight(const std::string& name, Shape shape) const {
  TensorSpec spec = kb::unread_buffer<real>(path(name), std::move(shape));
  spec.buffer = false;
  all_->specs_.push_back(std::move(spec));
}

void Scope::when_settled(std::function<void()> step) const {
  all_->settling_.push_back(std::move(step));
}

}  // namespace kb
