// Declarations of a network's weights, one after the other.
#include "kb/model.h"

namespace kb {

Parameter Scope::add(TensorSpec spec) const {
  const bool read = spec.role == Role::weight;
  all_->specs_.push_back(std::move(spec));
  return read ? Parameter(all_, all_->count_++) : Parameter();
}

Parameter Scope::weight(const std::string& name, Shape shape) const {
  return add(kb::weight<real>(path(name), std::move(shape)));
}

Parameter Scope::weight(const std::string& name, Shape shape, Fill fill, Fill upstream) const {
  return add(kb::weight<real>(path(name), std::move(shape))
                 .with(std::move(fill))
                 .upstream(std::move(upstream)));
}

Parameter Scope::buffer(const std::string& name, Shape shape, Fill fill, Fill upstream) const {
  TensorSpec spec = kb::weight<real>(path(name), std::move(shape))
                        .with(std::move(fill))
                        .upstream(std::move(upstream));
  spec.buffer = true;
  return add(std::move(spec));
}

void Scope::unread_buffer(const std::string& name, Shape shape, at::ScalarType dtype) const {
  TensorSpec spec = kb::unread_buffer<real>(path(name), std::move(shape));
  spec.dtype = dtype;
  add(std::move(spec));
}

void Scope::unread_weight(const std::string& name, Shape shape) const {
  TensorSpec spec = kb::unread_buffer<real>(path(name), std::move(shape));
  spec.buffer = false;
  add(std::move(spec));
}

void Scope::when_settled(std::function<void()> step) const {
  all_->settling_.push_back(std::move(step));
}

}  // namespace kb
