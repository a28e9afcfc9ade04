// Bytes come from the declaration, arithmetic from a run of the reference, and both give way to
// what the task says that an algorithm needs.
#include "bench/work_count.h"

#include "acceptance/operators.h"

namespace kb {
namespace {

double least(const Task& task, const char* what, double counted, std::optional<double> declared) {
  if (!declared) return counted;
  TORCH_CHECK(*declared <= counted, task.name, ": needing() declares ", *declared, " ", what,
              ", more than the ", counted, " that were counted");
  return *declared;
}

}  // namespace

Work count_work(const Task& task, const SizeBytes& sizes,
                const std::vector<at::Tensor>& arguments) {
  Work work;
  for (const TensorSpec& spec : task.tensors(sizes)) {
    const auto bytes = static_cast<double>(spec.bytes());
    if (spec.role != Role::unread) work.bytes += bytes;
    if (spec.role == Role::weight) work.weight_bytes += bytes;
  }
  const Operators operators =
      watch_needed_operators([&] { return task.reference(sizes, arguments); });
  work.flops = operators.flops;
  work.tf32 = may_round_to_tf32(operators);
  work.half = dtype_of<real> != at::kFloat;  // real may be incomplete
  work.library = operators.any();
  if (task.least_work) {
    const LeastWork declared = task.least_work(sizes);
    work.bytes = least(task, "bytes", work.bytes, declared.bytes);
    work.flops = least(task, "FLOPs", work.flops, declared.flops);
  }
  return work;
}

}  // namespace kb
