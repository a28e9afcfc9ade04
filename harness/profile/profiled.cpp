// kb_profiled: calls one candidate once, for a profiler to watch. Inputs are the task's own at full
// size. There is no sandbox around it, since a profiler reaches into the process that it watches;
// kb_profile starts it for candidates that have passed, in build folders that ask for profiles.
#include <ATen/ATen.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <optional>
#include <utility>

#include "acceptance/memory.h"
#include "conformance/task_library.h"
#include "kb/fill.h"
#include "protocol/weight_index.h"
#include "result/candidate_entry.h"

#ifdef KB_CUDA
#include <cuda_profiler_api.h>
#endif

namespace kb {
namespace {

using Entry = int(void* const*);

void check(cudaError_t error, const char* where) {
  if (error == cudaSuccess) return;
  throw std::runtime_error(std::string(where) + ": " + cudaGetErrorString(error));
}

/// The tensors of one call, and the arguments of launch() and prepare() that name them.
class Call {
 public:
  Call(const Task& task, const SizeBytes& sizes, at::Device device) : sizes_(sizes) {
    at::Generator rng = make_rng(device, 1);
    for (const TensorSpec& spec : task.tensors(sizes_)) {
      if (spec.role == Role::unread) continue;
      at::Tensor& tensor = tensors_.emplace_back(
          at::empty(spec.shape, at::TensorOptions(spec.dtype).device(device)));
      if (spec.role != Role::output) spec.draw(tensor, InputKind::standard, rng);
      if (task.weight_table && spec.role == Role::weight) {
        names_.push_back(spec.name);
        table_.push_back(as_weight(tensor));
      }
      roles_.push_back(spec.role);
    }
    for (size_t i = 0; i < table_.size(); ++i) table_[i].name = names_[i].c_str();
    if (!task.weight_table) return;
    index_.emplace(table_);
    weights_ = index_->weights(table_);
  }

  std::vector<void*> arguments(bool weights_only, cudaStream_t stream) {
    std::vector<void*> all{sizes_.data()};
    bool table_passed = false;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      const bool weight = roles_[i] == Role::weight;
      if (weights_only && !weight) continue;
      if (!weights_ || !weight) {
        all.push_back(tensors_[i].data_ptr());
      } else if (!std::exchange(table_passed, true)) {
        all.push_back(&*weights_);
      }
    }
    all.push_back(stream);
    return all;
  }

 private:
  static Weight as_weight(const at::Tensor& tensor) {
    Weight weight{"", static_cast<const real*>(tensor.data_ptr()), int(tensor.dim()), {}};
    std::copy_n(tensor.sizes().begin(), tensor.dim(), weight.shape);
    return weight;
  }

  SizeBytes sizes_;
  std::vector<at::Tensor> tensors_;
  std::vector<Role> roles_;
  std::vector<std::string> names_;
  std::vector<Weight> table_;
  std::optional<WeightIndex> index_;
  std::optional<Weights> weights_;  ///< of a task whose weights travel as one table
};

Entry* find(void* module, const char* name) {
  auto* found = reinterpret_cast<Entry*>(dlsym(module, name));
  if (found == nullptr) throw std::runtime_error(std::string("the module does not export ") + name);
  return found;
}

// At the sizes that are timed on this backend.
Call make_call(const Task& task, [[maybe_unused]] const std::string& sizes) {
#ifdef KB_CUDA
  const Task scaled = FullSizes(sizes).scaled(task);
  return Call(scaled, scaled.full, at::kCUDA);
#else
  return Call(task, task.smoke, at::kCPU);
#endif
}

void call_once(const CandidateEntry& entry, const std::string& sizes) {
  const std::string name = "level" + std::to_string(entry.level) + "/" + entry.task;
  Call call = make_call(load_task(tasks_folder(), name), sizes);
  for (const auto& library : entry.preload) dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* module = dlopen(entry.module.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) throw std::runtime_error(dlerror());
  Entry* launch = find(module, "kb_launch");
  Entry* prepare = find(module, "kb_prepare");

  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
  check(cudaDeviceSynchronize(), "making inputs");
  prepare(call.arguments(true, stream).data());
  const std::vector<void*> arguments = call.arguments(false, stream);
  launch(arguments.data());  // the first call sets things up
  check(cudaDeviceSynchronize(), "the first call");
#ifdef KB_CUDA
  check(cudaProfilerStart(), "starting the profiler");
#endif
  launch(arguments.data());
  check(cudaDeviceSynchronize(), "the call");
#ifdef KB_CUDA
  check(cudaProfilerStop(), "stopping the profiler");
#endif
}

}  // namespace
}  // namespace kb

int main(int argc, char** argv) {
  CLI::App app("Calls one candidate once, outside of the sandbox, for kb_profile");
  std::string manifest, candidate, sizes = "full";
  app.add_option("--manifest", manifest)->required();
  app.add_option("--candidate", candidate)->required();
  app.add_option("--sizes", sizes)->envname("KB_SIZES");
  CLI11_PARSE(app, argc, argv);
  try {
    kb::call_once(kb::find_candidate(manifest, candidate), sizes);
  } catch (const std::exception& error) {
    std::cerr << "kb_profiled: " << error.what() << std::endl;
    std::quick_exit(2);
  }
  std::quick_exit(0);
}
