// kb_profiled: calls one candidate once, for a profiler to watch. Inputs are the task's own at full
// size. There is no sandbox around it, since a profiler reaches into the process that it watches;
// kb_profile starts it for candidates that have passed, in build folders that ask for profiles.
#include <ATen/ATen.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <initializer_list>
#include <iostream>
#include <optional>

#include "base/result/candidate_entry.h"
#include "judge/acceptance/memory.h"
#include "reference/task_library.h"
#include "sandbox/protocol/weight_index.h"

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
  Call(const Task& task, const SizeBytes& sizes, at::Device device)
      : sizes_(sizes), given_(task.given(sizes)), tensors_(task.example(sizes, device)) {
    for (size_t i = 0; i < given_.size(); ++i) {
      void* const data = tensors_[i].data_ptr();
      if (given_[i].role == Role::input) {
        inputs_.push_back(data);
      } else if (task.weight_table) {
        table_.push_back(weight(i));
      } else {
        weights_.push_back(data);
      }
    }
    if (task.weight_table) {
      index_.emplace(table_);
      whole_table_ = index_->weights(table_);
      weights_.push_back(&*whole_table_);
    }
    for (const TensorSpec& spec : task.tensors(sizes)) {
      if (spec.role != Role::output) continue;
      tensors_.push_back(at::empty(spec.shape, at::TensorOptions(spec.dtype).device(device)));
      outputs_.push_back(tensors_.back().data_ptr());
    }
  }
  Call(const Call&) = delete;  // its members point at each other

  std::vector<void*> of_prepare(cudaStream_t stream) { return arguments({&weights_}, stream); }
  std::vector<void*> of_launch(cudaStream_t stream) {
    return arguments({&inputs_, &weights_, &outputs_}, stream);
  }

 private:
  std::vector<void*> arguments(std::initializer_list<const std::vector<void*>*> tensors,
                               cudaStream_t stream) {
    std::vector<void*> all{sizes_.data()};
    for (const auto* group : tensors) all.insert(all.end(), group->begin(), group->end());
    all.push_back(stream);
    return all;
  }
  Weight weight(size_t i) const {
    const at::Tensor& tensor = tensors_[i];
    Weight weight{given_[i].name.c_str(),
                  static_cast<const real*>(tensor.data_ptr()),
                  static_cast<int>(tensor.dim()),
                  {}};
    std::copy_n(tensor.sizes().begin(), tensor.dim(), weight.shape);
    return weight;
  }

  SizeBytes sizes_;
  std::vector<TensorSpec> given_;
  std::vector<at::Tensor> tensors_;  ///< inputs, weights, outputs
  std::vector<void*> inputs_, weights_, outputs_;
  std::vector<Weight> table_;
  std::optional<WeightIndex> index_;
  std::optional<Weights> whole_table_;  ///< of a task whose weights travel as one
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

void call_once(const CandidateEntry& entry) {
  const std::string name = "level" + std::to_string(entry.level) + "/" + entry.task;
  Call call = make_call(load_task(tasks_folder(), name), entry.sizes);
  for (const auto& library : entry.preload) dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* module = dlopen(entry.module.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) throw std::runtime_error(dlerror());
  Entry* launch = find(module, "kb_launch");
  Entry* prepare = find(module, "kb_prepare");

  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
  check(cudaDeviceSynchronize(), "making inputs");
  prepare(call.of_prepare(stream).data());
  const std::vector<void*> arguments = call.of_launch(stream);
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
  std::string manifest, candidate;
  app.add_option("--manifest", manifest)->required();
  app.add_option("--candidate", candidate)->required();
  CLI11_PARSE(app, argc, argv);
  try {
    kb::call_once(kb::find_candidate(manifest, candidate));
  } catch (const std::exception& error) {
    std::cerr << "kb_profiled: " << error.what() << std::endl;
    std::quick_exit(2);
  }
  std::quick_exit(0);
}
