// A kernel launch: its configuration, the blocks still to be run and how it ended.
#pragma once

#include <cudacpu/api.hpp>

#include <atomic>
#include <cstdint>
#include <memory>

#include "device_limits.hpp"
#include "grid_barrier.hpp"
#include "order.hpp"

namespace kb::cpu {

/// A kernel with its arguments, ready to run any number of times; shared by a graph's launches.
struct Closure {
  explicit Closure(Kernel& kernel)
      : kernel(kernel), storage(::operator new (kernel.closure_bytes, std::align_val_t{64})) {}
  ~Closure() {
    kernel.destroy(storage);
    ::operator delete (storage, std::align_val_t{64});
  }
  Closure(const Closure&) = delete;

  Kernel& kernel;
  void* storage;  ///< filled by the kernel's body as soon as the closure exists
};

/// What stands between <<< and >>>.
struct Configuration {
  dim3 grid, block;
  std::size_t dynamic_shared;
  bool cooperative;
  Site site;

  std::uint64_t blocks() const { return std::uint64_t{grid.x} * grid.y * grid.z; }
  std::uint64_t threads() const { return std::uint64_t{block.x} * block.y * block.z; }
};

struct Launch : Configuration {
  Launch(const Configuration& configuration, std::shared_ptr<Closure> closure)
      : Configuration(configuration),
        closure(std::move(closure)),
        queue(blocks()),
        grid_barrier(blocks()) {}

  /// Bytes of static and dynamic shared memory that a block may have together.
  std::size_t shared_limit() const {
    const bool asked = dynamic_shared <= std::size_t(closure->kernel.dynamic_shared_asked);
    return asked ? limits::shared_per_block_optin : limits::shared_per_block;
  }

  std::shared_ptr<Closure> closure;
  std::uint64_t number = 0;  ///< among the launches of the process
  BlockQueue queue;
  GridBarrier grid_barrier;
  std::atomic<bool> alone{false};    ///< isolated blocks run, one after the other
  std::atomic<bool> crowded{false};  ///< more OS threads run blocks than there are cores
  std::atomic<int> error{cudaSuccess};
};

}  // namespace kb::cpu
