// An ATen observer sees every operator with its arguments; only the innermost ones that multiply
// matrices are counted, by name.
#include "judge/work_count.h"

#include <ATen/record_function.h>

#include <memory>
#include <string_view>

namespace kb {
namespace {

double flops = 0;  // observers are plain functions; references run in one thread

// A convolution between its start, where its arguments are known, and its end, where its output is.
struct Convolution final : at::ObserverContext {
  at::Tensor x, weight;
  bool transposed = false;
};

at::Tensor tensor(const at::RecordFunction& f, size_t index) {
  const auto inputs = f.inputs();
  return index < inputs.size() && inputs[index].isTensor() ? inputs[index].toTensor()
                                                           : at::Tensor();
}

// [.., m, k] times [.., k, n], or a matrix times a vector.
void add_product(const at::Tensor& a, const at::Tensor& b) {
  if (!a.defined() || !b.defined()) return;
  const int64_t columns = b.dim() == 1 ? 1 : b.size(-1);
  flops += 2.0 * static_cast<double>(a.numel()) * static_cast<double>(columns);
}

std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& f) {
  const std::string_view name = f.name();
  if (name == "aten::mm" || name == "aten::bmm" || name == "aten::mv") {
    add_product(tensor(f, 0), tensor(f, 1));
  } else if (name == "aten::addmm" || name == "aten::baddbmm") {
    add_product(tensor(f, 1), tensor(f, 2));
  } else if (name == "aten::convolution") {
    auto convolution = std::make_unique<Convolution>();
    convolution->x = tensor(f, 0);
    convolution->weight = tensor(f, 1);
    constexpr size_t transposed = 6;
    convolution->transposed = f.inputs()[transposed].toBool();
    return convolution;
  }
  return nullptr;
}

// Every weight meets every position of the smaller grid: the output's, or the input's if
// transposed.
void on_end(const at::RecordFunction& f, at::ObserverContext* context) {
  const auto* convolution = static_cast<const Convolution*>(context);
  if (convolution == nullptr || f.outputs().empty() || !f.outputs()[0].isTensor()) return;
  const at::Tensor y = f.outputs()[0].toTensor();
  const at::Tensor& grid = convolution->transposed ? convolution->x : y;
  double positions = static_cast<double>(grid.size(0));
  for (int64_t d = 2; d < grid.dim(); ++d) positions *= static_cast<double>(grid.size(d));
  flops += 2.0 * positions * static_cast<double>(convolution->weight.numel());
}

}  // namespace

Work count_work(const Task& task, const SizeBytes& sizes,
                const std::vector<at::Tensor>& arguments) {
  Work work;
  for (const TensorSpec& spec : task.tensors(sizes)) {
    if (spec.role != Role::unread) work.bytes += static_cast<double>(spec.bytes());
  }
  flops = 0;
  const auto handle = at::addThreadLocalCallback(at::RecordFunctionCallback(on_start, on_end)
                                                     .needsInputs(true)
                                                     .needsOutputs(true)
                                                     .scopes({at::RecordScope::FUNCTION}));
  task.reference(sizes, arguments);
  at::removeCallback(handle);
  work.flops = flops;
  return work;
}

}  // namespace kb
