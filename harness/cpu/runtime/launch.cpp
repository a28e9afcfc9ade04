// Launches: from the stashed closure and its configuration to blocks running on all cores.
#include "launch.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include "device_limits.hpp"
#include "device_memory.hpp"
#include "diagnostics.hpp"
#include "grid_barrier.hpp"
#include "sanitizer.hpp"
#include "stream.hpp"
#include "worker.hpp"

namespace kb::cpu {
namespace {

thread_local std::shared_ptr<Closure> stashed;
thread_local bool identifying = false;
thread_local Kernel* identified = nullptr;
thread_local Site unchecked_failure{nullptr, 0};

int thread_limit() {
  static const int value = [] {
    const char* text = std::getenv("KB_CPU_THREADS");
    const int wanted = text ? std::atoi(text) : 0;
    if (lane_owns_fiber) return 1;  // CUDA threads are TSan's fibers 0..1023 of one OS thread
    return wanted > 0 ? wanted
                      : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  }();
  return value;
}

/// OS threads that join the launching thread in running blocks.
class Pool {
 public:
  void run(Launch& launch, int workers) {
    // One launch at a time: streams are in order, and the helpers serve one launch.
    std::lock_guard one_at_a_time(launching_);
    if (workers > 1) {
      std::lock_guard lock(mutex_);
      while (threads_ < workers - 1 && add_thread()) ++threads_;
      launch_ = &launch;
      vacancies_ = workers - 1;
      work_.notify_all();
    }
    Worker::mine().run(launch);
    if (workers > 1) {
      std::unique_lock lock(mutex_);
      vacancies_ = 0;  // whoever has not woken up by now is not needed
      done_.wait(lock, [&] { return inside_ == 0; });
      launch_ = nullptr;
    }
  }

 private:
  bool add_thread() {
    try {
      std::thread([this] { serve(); }).detach();
      return true;
    } catch (const std::system_error&) {
      return false;  // fewer threads do, only slower
    }
  }

  [[noreturn]] void serve() {
    for (;;) {
      std::unique_lock lock(mutex_);
      work_.wait(lock, [&] { return vacancies_ > 0; });
      --vacancies_;
      ++inside_;
      Launch& launch = *launch_;
      lock.unlock();
      Worker::mine().run(launch);
      lock.lock();
      if (--inside_ == 0) done_.notify_all();
    }
  }

  std::mutex launching_, mutex_;
  std::condition_variable work_, done_;
  Launch* launch_ = nullptr;
  int threads_ = 0, vacancies_ = 0, inside_ = 0;
};

Pool& pool() {
  static auto* pool = new Pool;  // its threads live as long as the process
  return *pool;
}

std::string shape(dim3 size) { return triple(size); }

/// Explains what is wrong with a configuration; "" when nothing is.
std::string objection(const Kernel& kernel, dim3 grid, dim3 block, std::size_t shared,
                      bool cooperative, cudaError_t& error) {
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  error = cudaErrorInvalidConfiguration;
  if (threads == 0) return "block " + shape(block) + " has no threads";
  if (std::uint64_t{grid.x} * grid.y * grid.z == 0) return "grid " + shape(grid) + " has no blocks";
  if (block.x > 1024 || block.y > 1024 || block.z > limits::block_z ||
      threads > limits::threads_per_block)
    return "block " + shape(block) + " has " + std::to_string(threads) +
           " threads; the limits are 1024 in all and (1024,1024,64)";
  if (grid.x > limits::grid_x || grid.y > limits::grid_yz || grid.z > limits::grid_yz)
    return "grid " + shape(grid) + " exceeds (2147483647,65535,65535)";
  if (kernel.max_threads > 0 && threads > static_cast<unsigned>(kernel.max_threads)) {
    error = cudaErrorLaunchOutOfResources;
    return "block " + shape(block) + " exceeds __launch_bounds__(" +
           std::to_string(kernel.max_threads) + ")";
  }
  error = cudaErrorInvalidValue;
  if (shared > static_cast<std::size_t>(kernel.dynamic_shared_limit))
    return std::to_string(shared) +
           " bytes of dynamic shared memory exceed the kernel's limit of " +
           std::to_string(kernel.dynamic_shared_limit) +
           (shared <= limits::shared_per_block_optin
                ? " (cudaFuncAttributeMaxDynamicSharedMemorySize raises it)"
                : "");
  error = cudaErrorCooperativeLaunchTooLarge;
  const std::uint64_t resident =
      std::uint64_t{limits::multiprocessors} * resident_blocks(static_cast<int>(threads), shared);
  if (cooperative && std::uint64_t{grid.x} * grid.y * grid.z > resident)
    return "grid " + shape(grid) + " is larger than the " + std::to_string(resident) +
           " blocks that can be resident at once";
  error = cudaSuccess;
  return "";
}

cudaError_t run_launch(const std::shared_ptr<Closure>& closure, dim3 grid, dim3 block,
                       std::size_t shared, bool cooperative, Site site) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  Launch launch;
  launch.closure = closure;
  launch.grid = grid;
  launch.block = block;
  launch.dynamic_shared = shared;
  launch.site = site;
  const std::uint64_t blocks = launch.blocks();
  GridBarrier barrier(blocks);
  launch.cooperative = cooperative;
  if (cooperative) launch.grid_barrier = &barrier;
  const auto workers = cooperative ? blocks : std::min<std::uint64_t>(blocks, thread_limit());
  {
    DeviceMemory::Access access(DeviceMemory::instance());
    pool().run(launch, static_cast<int>(workers));
    auto blame = [&](cudaError_t error, const std::string& sentence) {
      if (sentence.empty() || launch.error != cudaSuccess) return;
      launch.error = error;
      set_sticky_error(error);
      report(std::string(cudaGetErrorName(error)) + " in kernel " + closure->kernel.name + " (" +
             place(closure->kernel.site) + "): " + sentence);
    };
    blame(cudaErrorIllegalAddress, DeviceMemory::instance().check_canaries());
    blame(cudaErrorLaunchFailure, take_race());
  }
  return static_cast<cudaError_t>(launch.error.load());
}

}  // namespace

Closure::Closure(Kernel& kernel)
    : kernel(kernel), storage(::operator new (kernel.closure_bytes, std::align_val_t{64})) {}

Closure::~Closure() {
  if (filled) kernel.destroy(storage);
  ::operator delete (storage, std::align_val_t{64});
}

void* stash(Kernel& kernel) {
  if (identifying) {
    identified = &kernel;
    return nullptr;
  }
  const std::string name = std::string("kernel ") + kernel.name + " (" + place(kernel.site) + ")";
  if (Worker::active())
    fault(cudaErrorNotSupported,
          name + " was called or launched from a kernel: the CPU backend has no " +
              "dynamic parallelism");
  if (stashed) {
    report("cudaErrorMissingConfiguration: kernel " + std::string(stashed->kernel.name) +
           " was called without <<<grid, block>>>");
    set_sticky_error(cudaErrorMissingConfiguration);
  }
  stashed = std::make_shared<Closure>(kernel);
  stashed->filled = true;
  return stashed->storage;
}

std::shared_ptr<Closure> take_stashed() { return std::exchange(stashed, nullptr); }

void begin_identify() {
  identifying = true;
  identified = nullptr;
}

Kernel* end_identify() {
  identifying = false;
  return identified;
}

Schedule schedule() {
  static const Schedule value = [] {
    const char* text = std::getenv("KB_CPU_SCHEDULE");
    if (text && !std::strcmp(text, "reverse")) return Schedule::reverse;
    if (text && !std::strcmp(text, "random")) return Schedule::random;
    return Schedule::forward;
  }();
  return value;
}

int resident_blocks(int threads, std::size_t shared_bytes) {
  if (threads <= 0 || threads > limits::threads_per_block) return 0;
  const int by_threads = limits::threads_per_multiprocessor / ((threads + 31) / 32 * 32);
  const int by_shared = static_cast<int>(limits::shared_per_multiprocessor /
                                         (shared_bytes + limits::shared_reserved));
  return std::min({by_threads, by_shared, limits::blocks_per_multiprocessor});
}

cudaError_t start_launch(std::shared_ptr<Closure> closure, dim3 grid, dim3 block,
                         std::size_t dynamic_shared, cudaStream_t stream, bool cooperative,
                         Site site) {
  if (!closure) return result(cudaErrorInvalidDeviceFunction);
  if (sticky_error() != cudaSuccess) return result(sticky_error());
  const std::string name = std::string("kernel ") + closure->kernel.name + " (" +
                           place(closure->kernel.site) + ") at " + place(site);
  if (unchecked_failure.file && cudaPeekAtLastError() != cudaSuccess)
    warn("launch of " + name + " follows the failed launch at " + place(unchecked_failure) +
         ", after which nobody has called cudaGetLastError");
  unchecked_failure.file = nullptr;
  cudaError_t error;
  const std::string reason =
      objection(closure->kernel, grid, block, dynamic_shared, cooperative, error);
  if (error != cudaSuccess) {
    unchecked_failure = site;
    report(std::string(cudaGetErrorName(error)) + " in the launch of " + name + ": " + reason);
    return result(error);
  }
  return result(enqueue(
      stream, [=] { return run_launch(closure, grid, block, dynamic_shared, cooperative, site); }));
}

void launch(dim3 grid, dim3 block, std::size_t dynamic_shared, cudaStream_t stream, Site site) {
  start_launch(take_stashed(), grid, block, dynamic_shared, stream, false, site);
}

cudaError_t launch_stashed(dim3 grid, dim3 block, std::size_t dynamic_shared, cudaStream_t stream,
                           bool cooperative, Site site) {
  return start_launch(take_stashed(), grid, block, dynamic_shared, stream, cooperative, site);
}

cudaError_t launch_with(const cudaLaunchConfig_t& config, Site site) {
  bool cooperative = false;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config.attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative)
      cooperative = attribute.val.cooperative != 0;
    const auto& cluster = attribute.val.clusterDim;
    if (attribute.id == cudaLaunchAttributeClusterDimension &&
        cluster.x * cluster.y * cluster.z > 1) {
      take_stashed();
      report("cudaErrorNotSupported: the CPU backend has no thread block clusters");
      return result(cudaErrorNotSupported);
    }
  }
  return start_launch(take_stashed(), config.gridDim, config.blockDim, config.dynamicSmemBytes,
                      config.stream, cooperative, site);
}

cudaError_t set_attribute(Kernel* kernel, cudaFuncAttribute attribute, int value) {
  if (!kernel) return result(cudaErrorInvalidDeviceFunction);
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    if (value < 0 || value > limits::shared_per_block_optin) return result(cudaErrorInvalidValue);
    // 48 KB need no permission; asking for less does not take them away.
    kernel->dynamic_shared_limit = std::max(value, limits::shared_per_block);
  }
  return result(cudaSuccess);
}

cudaError_t get_attributes(cudaFuncAttributes* attributes, Kernel* kernel) {
  if (!kernel) return result(cudaErrorInvalidDeviceFunction);
  *attributes = {};
  attributes->maxThreadsPerBlock =
      kernel->max_threads > 0 ? kernel->max_threads : limits::threads_per_block;
  attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion =
      limits::capability_major * 10 + limits::capability_minor;
  attributes->maxDynamicSharedSizeBytes = kernel->dynamic_shared_limit;
  attributes->preferredShmemCarveout = cudaSharedmemCarveoutDefault;
  return result(cudaSuccess);
}

cudaError_t max_active_blocks(int* blocks, int threads, std::size_t shared_bytes) {
  *blocks = resident_blocks(threads, shared_bytes);
  return result(cudaSuccess);
}

cudaError_t unknown_function(const char* call) {
  report(std::string("cudaErrorInvalidDeviceFunction: ") + call +
         " got an untyped pointer; the CPU backend needs the kernel's name");
  return result(cudaErrorInvalidDeviceFunction);
}

}  // namespace kb::cpu
