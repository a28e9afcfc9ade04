// Parts of a task: of its name, and of its tensors.
#include "kb/task.h"

namespace kb {

void Task::settle(const SizeBytes& sizes, const std::vector<Tensor>& given) const {
  if (!settle_weights) return;
  const std::vector<TensorSpec> specs = this->given(sizes);
  std::vector<Tensor> weights;
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].role == Role::weight) weights.push_back(given.at(i));
  }
  settle_weights(sizes, weights);
}

std::vector<TensorSpec> Task::given(const SizeBytes& sizes) const {
  std::vector<TensorSpec> specs = tensors(sizes);
  std::erase_if(specs, [](const TensorSpec& spec) {
    return spec.role == Role::output || spec.role == Role::unread;
  });
  return specs;
}

std::vector<Tensor> Task::example(const SizeBytes& sizes, at::Device device,
                                  uint64_t rng_seed) const {
  at::Generator rng = make_rng(device, rng_seed);
  std::vector<Tensor> values;
  for (const TensorSpec& spec : given(sizes)) {
    values.push_back(at::empty(spec.shape, at::TensorOptions(spec.dtype).device(device)));
    spec.draw(values.back(), InputKind::standard, rng);
  }
  return values;
}

int Task::level() const { return name.at(std::string("level").size()) - '0'; }

std::string Task::slug() const { return name.substr(name.find('/') + 1); }

}  // namespace kb
