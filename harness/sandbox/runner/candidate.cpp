// Written once against the CUDA runtime; on the CPU backend harness/cpu provides the same calls.
#include "sandbox/runner/candidate.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "sandbox/runner/constructors.h"
#include "sandbox/runner/files.h"
#include "sandbox/runner/last_kernel.h"
#include "sandbox/runner/stream_order.h"
#include "sandbox/runner/system_calls.h"

namespace kb::runner {

using protocol::call_foreign;
using protocol::check_cuda;
using protocol::Failure;
using protocol::OwnTimes;
using protocol::Prepared;
using protocol::Status;
using protocol::TensorRole;

MappedTensor::MappedTensor(const protocol::Tensor& tensor) : tensor_(tensor) {
  cudaIpcMemHandle_t handle;
  static_assert(sizeof handle == sizeof tensor.handle);
  std::memcpy(&handle, tensor.handle, sizeof handle);
  void* base = nullptr;
  check_cuda(cudaIpcOpenMemHandle(&base, handle, cudaIpcMemLazyEnablePeerAccess),
             "opening a buffer");
  base_ = static_cast<char*>(base);
  note_tensor(base_, tensor_.name);
}

MappedTensor::MappedTensor(MappedTensor&& other) noexcept
    : tensor_(other.tensor_), base_(std::exchange(other.base_, nullptr)) {}

MappedTensor::~MappedTensor() {
  if (base_ != nullptr) cudaIpcCloseMemHandle(base_);
}

void* MappedTensor::slot(uint32_t index) const {
  const uint64_t copy = tensor_.slots == 1 ? 0 : index;
  return base_ + tensor_.data_offset + copy * tensor_.slot_stride;
}

Weight MappedTensor::as_weight() const {
  Weight weight{tensor_.name, static_cast<const real*>(slot(0)), tensor_.rank, {}};
  std::memcpy(weight.shape, tensor_.shape, sizeof weight.shape);
  return weight;
}

namespace {

size_t free_memory(size_t* total) {
  size_t free = 0;
  check_cuda(cudaMemGetInfo(&free, total), "asking for the device's memory");
  return free;
}

protocol::UnitClock make_clock() {
  const Unnoted set_up;
  return {};
}

}  // namespace

Candidate::Candidate(bool control) : control_(control), clock_(make_clock()) {
  follow_streams();
  check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating the stream");
  // The driver starts a thread for these when the first one comes; later no thread may start.
  bool narrowed = false;
  check_cuda(
      cudaLaunchHostFunc(
          stream_, [](void* done) { *static_cast<bool*>(done) = narrow_files(); }, &narrowed),
      "queueing a call");
  check_cuda(cudaStreamSynchronize(stream_), "waiting for a call");
  if (!narrowed) {
    throw Failure(Status::load_failed, "the kernel refuses a wall around a candidate's thread");
  }
  // Scratch memory stays between calls, as in the allocator that the reference uses; left alone,
  // the pool is emptied at the end of every unit and its next user pays some 0.1 ms for it, and
  // milliseconds for each gigabyte.
  size_t total = 0;
  free_memory(&total);
  uint64_t kept = total / 8;
  check_cuda(cudaDeviceGetDefaultMemPool(&pool_, 0), "finding the memory pool");
  check_cuda(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &kept),
             "setting up the memory pool");
}

void Candidate::load() {
  if (control_) return;
  const std::string path = "/proc/self/fd/" + std::to_string(protocol::module_fd);
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // runs nothing of the candidate's
  if (module == nullptr) throw Failure(Status::load_failed, dlerror());
  report_faults();
#ifdef KB_CUDA
  close(protocol::module_fd);  // on the CPU fault reports read its line tables
#endif
  if ((isolation_.held & protocol::system_calls) != 0 && !deny_new_code()) {
    throw Failure(Status::load_failed, "the kernel refuses the last wall around a candidate");
  }
  call_foreign([&] { run_constructors(module); });
  launch_ = reinterpret_cast<Entry>(dlsym(module, "kb_launch"));
  prepare_ = reinterpret_cast<Entry>(dlsym(module, "kb_prepare"));
  if (launch_ == nullptr || prepare_ == nullptr) {
    throw Failure(Status::load_failed, "the module does not export kb_launch and kb_prepare");
  }
}

void Candidate::bind(const protocol::Request& request) {
  captured_.clear();
  check_cuda(cudaMemPoolTrimTo(pool_, 0), "emptying the memory pool");
  tensors_.clear();
  table_.clear();
  if (request.tensor_count > protocol::max_tensors ||
      request.sizes_bytes > protocol::max_sizes_bytes) {
    throw Failure(Status::protocol_error, "request out of range");
  }
  sizes_.assign(request.sizes, request.sizes + request.sizes_bytes);
  weight_table_ = request.weight_table != 0;
  for (uint32_t i = 0; i < request.tensor_count; ++i) tensors_.emplace_back(request.tensors[i]);
  uint32_t slots = 1;
  for (const MappedTensor& tensor : tensors_) {
    slots = std::max(slots, tensor.slots());
    if (weight_table_ && tensor.role() == TensorRole::weight) table_.push_back(tensor.as_weight());
  }
  index_ = WeightIndex(table_);
  weights_ = index_.weights(table_);
  line_up_calls(slots);
}

// Once, and not in each call: calls are timed, and networks have hundreds of tensors.
void Candidate::line_up_calls(uint32_t slots) {
  calls_.assign(slots, {});
  for (uint32_t slot = 0; slot < slots; ++slot) {
    std::vector<void*>& arguments = calls_[slot];
    arguments.push_back(sizes_.data());
    bool table_passed = false;
    for (const MappedTensor& tensor : tensors_) {
      if (!weight_table_ || tensor.role() != TensorRole::weight) {
        arguments.push_back(tensor.slot(slot));
      } else if (!std::exchange(table_passed, true)) {
        arguments.push_back(&weights_);
      }
    }
    arguments.push_back(stream_);
  }
}

Prepared Candidate::prepare() {
  if (control_) return {};
  std::vector<void*> args{sizes_.data()};
  if (weight_table_) {
    args.push_back(&weights_);
  } else {
    for (const MappedTensor& tensor : tensors_) {
      if (tensor.role() == TensorRole::weight) args.push_back(tensor.slot(0));
    }
  }
  args.push_back(stream_);
  size_t total = 0;
  const size_t before = free_memory(&total);
  Prepared prepared;
  call_foreign([&] { prepared.own = prepare_(args.data()) != 0; });
  check_cuda(cudaGetLastError(), "after prepare()");
  check_cuda(cudaDeviceSynchronize(), "while prepare() ran");
  if (!prepared.own) return prepared;
  // What it has freed is not held, although the pool would keep it.
  check_cuda(cudaMemPoolTrimTo(pool_, 0), "emptying the memory pool");
  const size_t after = free_memory(&total);
  prepared.held_bytes = before > after ? before - after : 0;
  return prepared;
}

void Candidate::launch(uint32_t slot) {
  if (control_) return protocol::launch_empty_kernel(stream_);
  call_foreign([&] { launch_(calls_.at(slot).data()); });
}

OwnTimes Candidate::run(uint32_t first_slot, uint32_t slots) {
  std::string elsewhere;
  const OwnTimes times = clock_.time(stream_, [&] {
    stream_order().begin(stream_);
    for (uint32_t i = 0; i < slots; ++i) launch(first_slot + i);
    elsewhere = stream_order().end();
  });
  if (!elsewhere.empty()) throw Failure(Status::off_stream, elsewhere);
  return times;
}

namespace {

void must_capture(cudaError_t error) {
  if (error == cudaSuccess) return;
  cudaGetLastError();
  throw Failure(Status::cannot_capture, cudaGetErrorString(error));
}

}  // namespace

Graph Candidate::capture_calls(uint32_t first_slot, uint32_t slots) {
  must_capture(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
  for (uint32_t i = 0; i < slots; ++i) launch(first_slot + i);
  const cudaError_t launched = cudaGetLastError();
  cudaGraph_t graph = nullptr;
  must_capture(cudaStreamEndCapture(stream_, &graph));
  Graph owner(graph);
  must_capture(launched);
  return owner;
}

// Each call is captured once and alone, and the unit put together from the captures, so that it
// can be any of the calls without the candidate hearing of it. Null where CUDA does not allow that:
// a call that allocates memory can only be captured within its unit.
Graph Candidate::put_together(uint32_t first_slot, uint32_t slots) {
  cudaGraph_t graph = nullptr;
  must_capture(cudaGraphCreate(&graph, 0));
  Graph unit(graph);
  cudaGraphNode_t last = nullptr;
  for (uint32_t i = 0; i < slots; ++i) {
    Graph& call = captured_[first_slot + i];
    if (call == nullptr) call = capture_calls(first_slot + i, 1);
    const cudaGraphNode_t before = last;
    if (cudaGraphAddChildGraphNode(&last, graph, &before, i == 0 ? 0 : 1, call.get()) ==
        cudaSuccess) {
      continue;
    }
    cudaGetLastError();
    return nullptr;
  }
  return unit;
}

void Candidate::capture(uint32_t first_slot, uint32_t slots) {
  if (unit_ != nullptr) cudaGraphExecDestroy(std::exchange(unit_, nullptr));
  Graph unit = put_together(first_slot, slots);
  if (unit == nullptr) unit = capture_calls(first_slot, slots);
  must_capture(cudaGraphInstantiate(&unit_, unit.get(), 0));
}

OwnTimes Candidate::replay() {
  if (unit_ == nullptr) throw Failure(Status::protocol_error, "nothing was captured");
  return clock_.time(stream_, [&] {
    cudaError_t error = cudaSuccess;
    // On the CPU what was captured runs now.
    call_foreign([&] { error = cudaGraphLaunch(unit_, stream_); });
    check_cuda(error, "launching the graph");
  });
}

void Candidate::wake() {
  const Unnoted launches;
  clock_.warm_up(stream_);
}

std::string Candidate::last_kernel() const { return runner::last_kernel(); }

}  // namespace kb::runner
