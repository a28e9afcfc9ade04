// An ATen observer sees every operator with its arguments; only the innermost ones that multiply
// matrices are counted, by name.
#include "judge/work_count.h"

#include <ATen/record_function.h>

#include <cstring>

namespace kb {
namespace {

double flops = 0;  // observers are plain functions; references run in one thread

at::Tensor tensor(const at::RecordFunction& f, size_t index) {
  const auto inputs = f.inputs();
  return index < inputs.size() && inputs[index].isTensor() ? inputs[index].toTensor()
                                                           : at::Tensor();
}

// Both operands are matrices or equally long batches of them: [.., m, k] times [.., k, n].
void add_product(const at::Tensor& a, const at::Tensor& b) {
  if (a.defined() && b.defined()) flops += 2.0 * static_cast<double>(a.numel()) * b.size(-1);
}

// Every weight meets every position of the smaller grid: the output's, or the input's if
// transposed.
void add_convolution(const at::RecordFunction& f) {
  const at::Tensor x = tensor(f, 0), weight = tensor(f, 1);
  if (!x.defined() || !weight.defined() || f.outputs().empty() || !f.outputs()[0].isTensor())
    return;
  const at::Tensor y = f.outputs()[0].toTensor();
  constexpr size_t transposed = 6;
  const at::Tensor& grid = f.inputs()[transposed].toBool() ? x : y;
  double positions = static_cast<double>(grid.size(0));
  for (int64_t d = 2; d < grid.dim(); ++d) positions *= static_cast<double>(grid.size(d));
  flops += 2.0 * positions * static_cast<double>(weight.numel());
}

void on_operator(const at::RecordFunction& f, at::ObserverContext*) {
  const char* name = f.name();
  const auto is = [&](const char* wanted) { return std::strcmp(name, wanted) == 0; };
  if (is("aten::mm") || is("aten::bmm") || is("aten::mv")) {
    add_product(tensor(f, 0), is("aten::mv") ? tensor(f, 1).unsqueeze(-1) : tensor(f, 1));
  } else if (is("aten::addmm") || is("aten::baddbmm")) {
    add_product(tensor(f, 1), tensor(f, 2));
  } else if (is("aten::convolution")) {
    add_convolution(f);
  }
}

}  // namespace

Work count_work(const Task& task, const SizeBytes& sizes,
                const std::vector<at::Tensor>& arguments) {
  Work work;
  for (const TensorSpec& spec : task.tensors(sizes)) {
    if (spec.role != Role::unread) work.bytes += static_cast<double>(spec.bytes());
  }
  flops = 0;
  const auto handle = at::addThreadLocalCallback(at::RecordFunctionCallback(nullptr, on_operator)
                                                     .needsInputs(true)
                                                     .needsOutputs(true)
                                                     .scopes({at::RecordScope::FUNCTION}));
  task.reference(sizes, arguments);
  at::removeCallback(handle);
  work.flops = flops;
  return work;
}

}  // namespace kb
