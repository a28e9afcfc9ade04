// Both runs of the reference, and the choice between the ways of comparing.
#include "judge/expectation.h"

namespace kb {

std::vector<at::Tensor> in_fp64(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> out;
  for (const at::Tensor& t : tensors) {
    out.push_back(at::isFloatingType(t.scalar_type()) ? t.to(at::kDouble) : t);
  }
  return out;
}

Expectation::Expectation(const Task& task, const SizeBytes& sizes, std::vector<at::Tensor> given)
    : given_(std::move(given)),
      library_(task.reference(sizes, given_)),
      oracle_(task.reference(sizes, in_fp64(given_))) {
  for (const TensorSpec& spec : task.tensors(sizes)) {
    if (spec.role == Role::input) inputs_.push_back(spec);
    if (spec.role == Role::output) outputs_.push_back(spec);
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    TORCH_CHECK(oracle_.at(i).sizes() == c10::IntArrayRef(outputs_[i].shape), task.name,
                ": output '", outputs_[i].name,
                "' is declared with another shape than reference() returns");
  }
}

Comparison Expectation::compare(size_t output, const at::Tensor& got) const {
  const TensorSpec& spec = outputs_.at(output);
  if (!spec.argument_of) {
    return compare_output(spec, got, oracle(output),
                          tolerance_of(spec, library(output), oracle(output)));
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].name == spec.argument_of->input) {
      return compare_argument(spec, got, oracle(output), given_[i]);
    }
  }
  TORCH_CHECK(false, "output '", spec.name, "' names positions in '", spec.argument_of->input,
              "', which is no input");
}

Comparison Expectation::compare_exact(size_t output, const at::Tensor& got) const {
  return compare_output(outputs_.at(output), got, oracle(output),
                        exact_tolerance(library(output), oracle(output)));
}

}  // namespace kb
