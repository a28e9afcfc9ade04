// Launches: from the stashed closure and its configuration to blocks running on all cores.
#include "launch.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "device_limits.hpp"
#include "device_memory.hpp"
#include "diagnostics.hpp"
#include "held_writes.hpp"
#include "sanitizer.hpp"
#include "settings.hpp"
#include "stream.hpp"
#include "worker.hpp"

namespace kb::cpu {
namespace {

thread_local std::shared_ptr<Closure> stashed;
thread_local bool identifying = false;
thread_local Kernel* identified = nullptr;

/// What untyped pointers to kernels stand for.
struct Functions {
  std::mutex mutex;
  std::map<const void*, Caller> callers;
};
Functions& functions() {
  static auto* all = new Functions;  // also for casts in initialisers and destructors
  return *all;
}

Kernel* identify(const void* function) {
  identifying = true;
  identified = nullptr;
  call_kernel(function, nullptr);
  identifying = false;
  return identified;
}
thread_local Site unchecked_failure{nullptr, 0};

std::uint64_t thread_limit() {
  const int wanted = settings().threads;
  static const unsigned cores = std::max(1u, std::thread::hardware_concurrency());  // reads a file
  if (lane_owns_fiber) return 1;  // CUDA threads are TSan's fibers of one OS thread
  return wanted > 0 ? wanted : cores;
}

/// The largest block that a kernel can be launched with.
int largest_block(const Kernel& kernel) {
  return kernel.max_threads > 0 ? std::min(kernel.max_threads, limits::threads_per_block)
                                : limits::threads_per_block;
}

/// Without static shared memory, whose size shows only when the kernel runs. 48 KB need no
/// permission; asking for less does not take them away.
int dynamic_shared_limit(const Kernel& kernel) {
  return std::max(kernel.dynamic_shared_asked, limits::shared_per_block);
}

/// How many blocks of a kernel fit on one multiprocessor.
int resident_blocks(std::uint64_t threads, std::size_t shared_bytes) {
  if (threads == 0 || threads > limits::threads_per_block) return 0;
  const std::size_t by_threads = limits::threads_per_multiprocessor / ((threads + 31) / 32 * 32);
  const std::size_t by_shared =
      limits::shared_per_multiprocessor / (shared_bytes + limits::shared_reserved);
  return static_cast<int>(
      std::min<std::size_t>({by_threads, by_shared, limits::blocks_per_multiprocessor}));
}

std::string describe(const Kernel& kernel) {
  return std::string("kernel ") + kernel.name + " (" + place(kernel.site) + ")";
}

/// OS threads that join the launching thread in running blocks.
class Pool {
 public:
  void run(Launch& launch) {
    // One launch at a time: streams are in order, and the helpers serve one launch.
    std::lock_guard one_at_a_time(launching_);
    const bool all = launch.cooperative || launch.closure->kernel.blocks_wait;
    {
      std::lock_guard lock(mutex_);
      launch.number = ++launches_;
      draw_order(launch);
      launch_ = &launch;
      if (!watched_) watched_ = start([this] { watch(); });
      if (std::exchange(resting_, false)) watch_.notify_one();
    }
    if (launch.alone) {
      HeldWrites::instance().begin();
      Worker::mine().run_isolated(launch);
      HeldWrites::instance().end();
      launch.alone = false;
    }
    {
      std::lock_guard lock(mutex_);
      open(all && resident(launch) ? launch.blocks() : std::min(launch.blocks(), thread_limit()));
    }
    Worker::mine().run(launch);
    std::unique_lock lock(mutex_);
    launch_ = nullptr;
    vacancies_ = 0;  // whoever has not woken up by now is not needed
    done_.wait(lock, [&] { return inside_ == 0; });
  }

 private:
  /// True if a GPU could run all blocks at once, so that they may wait for each other.
  static bool resident(const Launch& launch) {
    // ThreadSanitizer has room for about 8,000 fibers.
    return launch.blocks() <=
               static_cast<unsigned>(limits::multiprocessors *
                                     resident_blocks(launch.threads(), launch.dynamic_shared)) &&
           (!lane_owns_fiber || launch.cooperative || launch.blocks() * launch.threads() <= 4096);
  }

  /// Blocks that wait for each other keep the order in which they expect each other.
  void draw_order(Launch& launch) {
    const bool wait = launch.cooperative || launch.closure->kernel.blocks_wait;
    if (launch.closure->kernel.blocks_wait) return;
    const std::uint64_t earlier = launches_of_[&launch.closure->kernel]++;
    launch.queue.draw(launch.number, earlier, launch.grid, wait);
    launch.alone = !wait && launch.queue.has_isolated();
  }

  /// Lets so many workers run the launch together, the launching thread among them.
  void open(std::uint64_t workers) {
    const int helpers = static_cast<int>(workers) - 1;
    while (threads_ < helpers && start([this] { serve(); })) ++threads_;
    vacancies_ = helpers - inside_;
    launch_->crowded = workers > thread_limit();
    if (vacancies_ > 0) work_.notify_all();
  }

  template <class Body>
  static bool start(Body body) {
    try {
      std::thread(body).detach();
      return true;
    } catch (const std::system_error&) {
      return false;  // then with fewer
    }
  }

  [[noreturn]] void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
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

  /// Notices launches whose blocks do not end. Blocks may wait for others that have not started, as
  /// in a barrier that the program makes of atomics: these get OS threads of their own. Whatever
  /// still runs much later is named, since it may never end.
  [[noreturn]] void watch() {
    constexpr std::chrono::milliseconds period(100), patience(5000);
    std::uint64_t launch = 0, started = 0;
    auto since = std::chrono::steady_clock::now();
    constexpr std::clock_t own_patience = CLOCKS_PER_SEC * 2 / 5;  // of this process's own time
    std::clock_t used = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      watch_.wait(lock, [&] { return !resting_; });
      watch_.wait_for(lock, period, [] { return false; });
      resting_ = launch_ == nullptr;
      if (resting_) continue;
      const auto now = std::chrono::steady_clock::now();
      if (launch != std::exchange(launch, launches_) || started != launch_->queue.taken()) {
        started = launch_->queue.taken();
        since = now;
        used = std::clock();
      }
      // A slow block is not to lose its isolation because the machine is busy.
      const bool slow = launch_->alone && std::clock() - used < own_patience;
      if (now - since >= 2 * period && started < launch_->blocks() && !slow) let_others_run();
      if (now - since >= patience && now - since < patience + period)
        report("warning: " + describe(launch_->closure->kernel) + " has been running for " +
               std::to_string(patience / std::chrono::seconds(1)) +
               " s without finishing a block; a loop that waits for a volatile variable which "
               "another thread of the block sets does not end on the CPU");
    }
  }

  /// For blocks that wait for others which have not started.
  void let_others_run() {
    HeldWrites::instance().give_up();
    launch_->queue.ascend();
    if (!resident(*launch_)) return open(std::min(launch_->blocks(), 2 * thread_limit()));
    launch_->closure->kernel.blocks_wait = true;
    open(launch_->blocks());
  }

  std::mutex launching_, mutex_;
  std::condition_variable work_, done_, watch_;
  Launch* launch_ = nullptr;
  std::uint64_t launches_ = 0;
  std::map<const Kernel*, std::uint64_t> launches_of_;
  int threads_ = 0, vacancies_ = 0, inside_ = 0;
  bool watched_ = false, resting_ = true;  ///< whether watch() runs, and waits for a launch
};

Pool& pool() {
  static auto* pool = new Pool;  // its threads live as long as the process
  return *pool;
}

struct Objection {
  cudaError_t error = cudaSuccess;
  std::string reason;
};

/// What the driver would say about a configuration.
Objection check(const Kernel& kernel, const Configuration& c) {
  const std::string grid = "grid " + triple(c.grid), block = "block " + triple(c.block);
  if (c.threads() == 0) return {cudaErrorInvalidConfiguration, block + " has no threads"};
  if (c.blocks() == 0) return {cudaErrorInvalidConfiguration, grid + " has no blocks"};
  if (c.block.x > 1024 || c.block.y > 1024 || c.block.z > limits::block_z ||
      c.threads() > limits::threads_per_block)
    return {cudaErrorInvalidConfiguration,
            block + " has " + std::to_string(c.threads()) +
                " threads; the limits are 1024 in all and (1024,1024,64)"};
  if (c.grid.x > limits::grid_x || c.grid.y > limits::grid_yz || c.grid.z > limits::grid_yz)
    return {cudaErrorInvalidConfiguration, grid + " exceeds (2147483647,65535,65535)"};
  if (kernel.max_threads > 0 && c.threads() > static_cast<unsigned>(kernel.max_threads))
    return {cudaErrorLaunchOutOfResources,
            block + " exceeds __launch_bounds__(" + std::to_string(kernel.max_threads) + ")"};
  if (c.dynamic_shared > static_cast<std::size_t>(dynamic_shared_limit(kernel)))
    return {cudaErrorInvalidValue,
            std::to_string(c.dynamic_shared) +
                " bytes of dynamic shared memory exceed the kernel's limit of " +
                std::to_string(dynamic_shared_limit(kernel)) +
                (c.dynamic_shared <= limits::shared_per_block_optin
                     ? " (cudaFuncAttributeMaxDynamicSharedMemorySize raises it)"
                     : "")};
  const int resident = limits::multiprocessors * resident_blocks(c.threads(), c.dynamic_shared);
  if (c.cooperative && c.blocks() > static_cast<unsigned>(resident))
    return {cudaErrorCooperativeLaunchTooLarge, grid + " is larger than the " +
                                                    std::to_string(resident) +
                                                    " blocks that can be resident at once"};
  return {};
}

cudaError_t run_launch(const std::shared_ptr<Closure>& closure, const Configuration& c) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  Launch launch(c, closure);
  DeviceMemory::Access access(DeviceMemory::instance());
  pool().run(launch);
  auto blame = [&](cudaError_t error, const std::string& sentence) {
    if (sentence.empty() || launch.error != cudaSuccess) return;
    launch.error = error;
    set_sticky_error(error);
    report(std::string(cudaGetErrorName(error)) + " in " + describe(closure->kernel) + ": " +
           sentence);
  };
  blame(cudaErrorIllegalAddress, DeviceMemory::instance().check_canaries());
  blame(cudaErrorLaunchFailure, take_race());
  return static_cast<cudaError_t>(launch.error.load());
}

}  // namespace

void* stash(Kernel& kernel) {
  if (identifying) {
    identified = &kernel;
    return nullptr;
  }
  if (Worker::active())
    fault(cudaErrorNotSupported, describe(kernel) + " was called or launched from a kernel: the " +
                                     "CPU backend has no dynamic parallelism");
  if (stashed) {
    report("cudaErrorMissingConfiguration: " + describe(stashed->kernel) +
           " was called without <<<grid, block>>>");
    set_sticky_error(cudaErrorMissingConfiguration);
  }
  stashed = std::make_shared<Closure>(kernel);
  return stashed->storage;
}

void remember(const void* function, Caller caller) {
  const std::lock_guard lock(functions().mutex);
  functions().callers[function] = caller;
}

bool call_kernel(const void* function, void** arguments) {
  Caller caller = nullptr;
  {
    const std::lock_guard lock(functions().mutex);
    if (const auto found = functions().callers.find(function); found != functions().callers.end())
      caller = found->second;
  }
  if (!caller) {
    report(
        "cudaErrorInvalidDeviceFunction: an untyped pointer is that of no kernel which the CPU "
        "backend has seen; it needs a cast of the kernel's name");
    return false;
  }
  caller(function, arguments);
  return true;
}

cudaError_t launch_stashed(dim3 grid, dim3 block, std::size_t dynamic_shared, cudaStream_t stream,
                           bool cooperative, Site site) {
  const std::shared_ptr<Closure> closure = std::exchange(stashed, nullptr);
  if (!closure) return result(cudaErrorInvalidDeviceFunction);
  if (sticky_error() != cudaSuccess) return result();
  const std::string name = describe(closure->kernel) + " at " + place(site);
  if (unchecked_failure.file && cudaPeekAtLastError() != cudaSuccess)
    report("warning: launch of " + name + " follows the failed launch at " +
           place(unchecked_failure) + ", after which nobody has called cudaGetLastError");
  unchecked_failure.file = nullptr;
  const Configuration configuration{grid, block, dynamic_shared, cooperative, site};
  const auto [error, reason] = check(closure->kernel, configuration);
  if (error != cudaSuccess) {
    unchecked_failure = site;
    report(std::string(cudaGetErrorName(error)) + " in the launch of " + name + ": " + reason);
    return result(error);
  }
  tell_launch(stream, closure->kernel, site);
  return result(enqueue(stream, [=] { return run_launch(closure, configuration); }));
}

void launch(dim3 grid, dim3 block, std::size_t dynamic_shared, cudaStream_t stream, Site site) {
  launch_stashed(grid, block, dynamic_shared, stream, false, site);
}

cudaError_t launch_with(const cudaLaunchConfig_t& config, Site site) {
  bool cooperative = false;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const auto& [id, value] = config.attrs[i];
    if (id == cudaLaunchAttributeCooperative) cooperative = value.cooperative != 0;
    if (id != cudaLaunchAttributeClusterDimension ||
        value.clusterDim.x * value.clusterDim.y * value.clusterDim.z <= 1)
      continue;
    stashed = nullptr;
    report("cudaErrorNotSupported: the CPU backend has no thread block clusters");
    return result(cudaErrorNotSupported);
  }
  return launch_stashed(config.gridDim, config.blockDim, config.dynamicSmemBytes, config.stream,
                        cooperative, site);
}

cudaError_t set_attribute(const void* function, cudaFuncAttribute attribute, int value) {
  Kernel* kernel = identify(function);
  if (!kernel) return result(cudaErrorInvalidDeviceFunction);
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    if (value < 0 || value > limits::shared_per_block_optin) return result(cudaErrorInvalidValue);
    kernel->dynamic_shared_asked = value;
  }
  return result();
}

cudaError_t get_attributes(cudaFuncAttributes* attributes, const void* function) {
  const Kernel* kernel = identify(function);
  if (!kernel) return result(cudaErrorInvalidDeviceFunction);
  *attributes = {};
  attributes->maxThreadsPerBlock = largest_block(*kernel);
  attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion =
      limits::capability_major * 10 + limits::capability_minor;
  attributes->maxDynamicSharedSizeBytes = dynamic_shared_limit(*kernel);
  attributes->preferredShmemCarveout = cudaSharedmemCarveoutDefault;
  return result();
}

cudaError_t max_active_blocks(int* blocks, const void* function, int threads,
                              std::size_t shared_bytes) {
  const Kernel* kernel = identify(function);
  if (!kernel) return result(cudaErrorInvalidDeviceFunction);
  // An H200 does not ask for __launch_bounds__ here: only a launch with such a block fails.
  *blocks = threads > 0 ? resident_blocks(threads, shared_bytes) : 0;
  return result();
}

}  // namespace kb::cpu
