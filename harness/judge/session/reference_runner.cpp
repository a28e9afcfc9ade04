// Outputs stay in this process, allocated by ATen's own allocator, as a user would run it.
#include "judge/session/reference_runner.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <sys/prctl.h>

#include <csignal>
#include <cstring>
#include <memory>
#include <utility>

#include "judge/acceptance/precision.h"
#include "judge/session/buffers.h"
#include "sandbox/protocol/serve.h"

#ifdef KB_CUDA
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/cuda/MemPool.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "sandbox/protocol/unit_clock.h"
#endif

namespace kb {
namespace {

class Reference final : public protocol::Executor {
 public:
  Reference(const Task& task, Forward forward) : task_(task), compute_(std::move(forward)) {}

  void bind(const protocol::Request& request) override {
    outputs_.clear();
    arguments_.clear();
    sizes_.assign(request.sizes, request.sizes + request.sizes_bytes);
    uint32_t slots = 1;
    for (uint32_t i = 0; i < request.tensor_count; ++i) {
      slots = std::max(slots, static_cast<uint32_t>(request.tensors[i].slots));
    }
    arguments_.resize(slots);
    for (uint32_t i = 0; i < request.tensor_count; ++i) {
      const protocol::Tensor& tensor = request.tensors[i];
      if (tensor.role == protocol::TensorRole::output) continue;
      const std::vector<Tensor> copies = map_shared(tensor);
      for (uint32_t s = 0; s < slots; ++s)
        arguments_[s].push_back(copies[copies.size() == 1 ? 0 : s]);
    }
  }

  // All slots hold the same weights.
  protocol::Prepared prepare() override {
    task_.settle(sizes_, arguments_.at(0));
    return {};
  }

  void wake() override {
#ifdef KB_CUDA
    clock_.warm_up(c10::cuda::getCurrentCUDAStream());
#endif
  }

  // In a user's loop ATen's own code is in the caches, too; here it has been waiting for
  // milliseconds, and a first call would take up to 0.1 ms more. The same operators on the smallest
  // tensors bring it back.
  void warm() override {
#ifndef KB_CUDA
    if (!small_.empty()) return;  // times mean nothing here: once shows that it can be done
#endif
    if (small_.empty()) {
      small_ = task_.example(task_.smoke, device());
      task_.settle(task_.smoke, small_);
    }
    timed([&] { task_.reference(task_.smoke, small_); });
  }

  protocol::OwnTimes run(uint32_t first_slot, uint32_t slots) override {
    return timed([&] { forward(first_slot, slots); });
  }

#ifdef KB_CUDA
  // Graphs have memory of their own. All captures share it: when gigabytes were given back and
  // taken anew, the next block showed the reference up to 6 % slower. One without calls gives it
  // back. Else the last graph stays until the next is captured: a pool that no graph uses any more
  // is closed in LibTorch's allocator of host memory and cannot be captured into again.
  void capture(uint32_t first_slot, uint32_t slots) override {
    outputs_.clear();
    if (slots == 0) {
      graph_.reset();
      memory_.reset();
      c10::cuda::CUDACachingAllocator::emptyCache();
    }
    const c10::cuda::CUDAStreamGuard side(side_);
    try {
      if (slots > 0 && memory_ == nullptr) {
        set_up(first_slot, slots);
        memory_ = std::make_unique<at::cuda::MemPool>();
      }
      auto graph = std::make_unique<at::cuda::CUDAGraph>();
      graph->capture_begin(memory_ ? memory_->id() : c10::MempoolId_t{});
      try {
        forward(first_slot, slots);
      } catch (const std::exception&) {
        leave_capture(*graph);
        throw;
      }
      end_capture(*graph);
      graph_ = std::move(graph);
    } catch (const std::exception& error) {
      throw protocol::Failure(protocol::Status::cannot_capture, error.what());
    }
  }

  protocol::OwnTimes replay() override {
    return timed([&] { graph_->replay(); });
  }
#else
  // Nothing can be captured here; what a unit is made of is tried out all the same.
  void capture(uint32_t first_slot, uint32_t slots) override { unit_ = {first_slot, slots}; }
  protocol::OwnTimes replay() override { return run(unit_.first, unit_.second); }
#endif

 private:
  template <class Work>
  protocol::OwnTimes timed(Work work) {
#ifdef KB_CUDA
    return clock_.time(c10::cuda::getCurrentCUDAStream(), work);
#else
    work();
    return {};
#endif
  }

  void forward(uint32_t first_slot, uint32_t slots) {
    outputs_.resize(arguments_.size());
    for (uint32_t s = first_slot; s < first_slot + slots; ++s) {
      outputs_.at(s).clear();  // where outputs are gigabytes, there is no room for two sets
      outputs_.at(s) = compute_(sizes_, arguments_.at(s));
    }
  }

#ifdef KB_CUDA
  // LibTorch leaves a capture half open that CUDA has broken off, because something in it waited
  // for the device: its allocator would serve it on, and never give its memory back.
  void end_capture(at::cuda::CUDAGraph& graph) {
    cudaStreamCaptureStatus status{};
    protocol::check_cuda(cudaStreamIsCapturing(side_, &status), "ending a capture");
    if (status == cudaStreamCaptureStatusActive) return graph.capture_end();
    cudaGraph_t none = nullptr;
    cudaStreamEndCapture(side_, &none);
    cudaGetLastError();
    const c10::DeviceIndex device = c10::cuda::current_device();
    c10::cuda::CUDACachingAllocator::endAllocateToPool(device, memory_->id());
    c10::cuda::CUDACachingAllocator::releasePool(device, memory_->id());
    throw std::runtime_error("CUDA broke it off");
  }

  // While a capture is open, nobody in this process may allocate.
  void leave_capture(at::cuda::CUDAGraph& graph) {
    try {
      end_capture(graph);
    } catch (const std::exception&) {  // the first failure says more
      cudaGetLastError();
    }
  }

  // Libraries set themselves up outside the graph. What the calls took goes back: the graph takes
  // its own, and while it is captured, the allocator cannot fall back on what it keeps unused.
  void set_up(uint32_t first_slot, uint32_t slots) {
    forward(first_slot, slots);
    c10::cuda::device_synchronize();
    outputs_.clear();
    c10::cuda::CUDACachingAllocator::emptyCache();
  }

  // As a candidate's runner makes its own: the first stream out of LibTorch's pool brings dozens.
  static c10::cuda::CUDAStream make_stream() {
    cudaStream_t stream = nullptr;
    protocol::check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                         "creating the stream");
    return c10::cuda::getStreamFromExternal(stream, c10::cuda::current_device());
  }
#endif

  static at::Device device() {
#ifdef KB_CUDA
    return {at::kCUDA, c10::cuda::current_device()};
#else
    return at::kCPU;
#endif
  }

  const Task& task_;
  Forward compute_;
  std::vector<Tensor> small_;  // [argument] at the sizes `smoke`
  SizeBytes sizes_;
  std::vector<std::vector<Tensor>> arguments_;  // [slot][argument]
  std::vector<std::vector<Tensor>> outputs_;    // [slot][output]
#ifdef KB_CUDA
  // One for all captures: what is freed on a stream, the allocator gives out on that one only.
  c10::cuda::CUDAStream side_ = make_stream();
  std::unique_ptr<at::cuda::MemPool> memory_;  // of all graphs
  std::unique_ptr<at::cuda::CUDAGraph> graph_;
  protocol::UnitClock clock_;
#else
  std::pair<uint32_t, uint32_t> unit_{0, 0};
#endif
};

}  // namespace

std::vector<std::string> to_arguments(const std::string& contract, const Baseline& baseline) {
  return {contract, baseline.lane, baseline.package.string()};
}

void serve_reference(const Task& task, const std::vector<std::string>& arguments) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // the judge may be killed before it asks for anything
  const at::NoGradGuard no_grad;
  apply_precision(arguments.at(0));
  const Baseline baseline{arguments.at(1), arguments.at(2)};
  Reference reference(task, prepare_baseline(task, baseline));
  // The first time loads kernels and sets libraries up, while the judge is busy with its own.
  if (!baseline.special()) reference.warm();
  protocol::serve(protocol::inherited_page(), reference);
}

}  // namespace kb
