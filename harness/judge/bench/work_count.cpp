// Bytes come from the declaration, arithmetic from a run of the reference, less what launch() does
// not owe, and both give way to what the task says that an algorithm needs.
#include "judge/bench/work_count.h"

#include <algorithm>

#include "judge/acceptance/launch_work.h"

namespace kb {
namespace {

double least(const Task& task, const char* what, double counted, double owed,
             std::optional<double> declared) {
  if (!declared) return owed;
  TORCH_CHECK(*declared <= counted, task.name, ": needing() declares ", *declared, " ", what,
              ", more than the ", counted, " that were counted");
  return std::min(owed, *declared);
}

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

Work count_work(const Task& task, const SizeBytes& sizes,
                const std::vector<at::Tensor>& arguments) {
  Work work;
  double weight_bytes = 0;
  for (const TensorSpec& spec : task.tensors(sizes)) {
    const auto bytes = static_cast<double>(spec.bytes());
    if (spec.role != Role::unread) work.counted_bytes += bytes;
    if (spec.role == Role::weight) weight_bytes += bytes;
  }
  std::vector<at::Tensor> inputs, weights;
  const std::vector<TensorSpec> given = task.given(sizes);
  TORCH_CHECK(given.size() == arguments.size(), task.name, " takes ", given.size(), " tensors");
  for (size_t i = 0; i < given.size(); ++i) {
    (given[i].role == Role::weight ? weights : inputs).push_back(arguments[i]);
  }
  const LaunchWork launch =
      watch_launch_work(inputs, weights, [&] { return task.reference(sizes, arguments); });
  work.counted_flops = launch.counted.flops;
  const double other_bytes = work.counted_bytes - weight_bytes;
  work.bytes = other_bytes + std::min(weight_bytes, launch.likely.weight_bytes);
  work.flops = launch.likely.flops;
  work.sure.weight_bytes = std::min(weight_bytes, launch.sure.weight_bytes);
  work.sure.bytes = other_bytes + work.sure.weight_bytes;
  work.sure.flops = launch.sure.flops;
  work.weights_alone = {
      .flops = share(launch.flops_of_weights, launch.counted.flops),
      .bytes = share(weight_bytes - std::min(weight_bytes, launch.unfolded_weight_bytes),
                     work.counted_bytes),
      .operator_bytes = share(launch.operator_bytes_of_weights, launch.operator_bytes)};
  work.tf32 = may_round_to_tf32(launch.counted);
  work.half = dtype_of<real> != at::kFloat;  // real may be incomplete
  work.library = launch.counted.any();
  if (task.least_work) {
    const LeastWork declared = task.least_work(sizes);
    for (double* bytes : {&work.bytes, &work.sure.bytes}) {
      *bytes = least(task, "bytes", work.counted_bytes, *bytes, declared.bytes);
    }
    for (double* flops : {&work.flops, &work.sure.flops}) {
      *flops = least(task, "FLOPs", work.counted_flops, *flops, declared.flops);
    }
  }
  return work;
}

Json work_to_json(const Work& work) {
  const WeightsAlone& alone = work.weights_alone;
  return {{"bytes", work.bytes},
          {"flops", work.flops},
          {"counted_bytes", work.counted_bytes},
          {"counted_flops", work.counted_flops},
          {"weights_alone",
           {{"bytes", alone.bytes},
            {"flops", alone.flops},
            {"operator_bytes", alone.operator_bytes},
            {"most", alone.most()}}}};
}

}  // namespace kb
