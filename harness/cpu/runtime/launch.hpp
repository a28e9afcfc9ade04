// A kernel launch: its configuration, the blocks still to be run and how it ended.
#pragma once

#include <cudacpu/api.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace kb::cpu {

class GridBarrier;

/// A kernel with its arguments, ready to run any number of times.
class Closure {
 public:
  explicit Closure(Kernel& kernel);
  ~Closure();
  Closure(const Closure&) = delete;  // shared between a graph and its launches through shared_ptr

  Kernel& kernel;
  void* storage;
  bool filled = false;
};

struct Launch {
  std::shared_ptr<Closure> closure;
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared = 0;
  bool cooperative = false;
  Site site{};

  std::uint64_t blocks() const { return std::uint64_t{grid.x} * grid.y * grid.z; }
  int threads() const { return static_cast<int>(block.x * block.y * block.z); }

  std::atomic<std::uint64_t> next{0};
  std::atomic<int> error{cudaSuccess};
  std::atomic<bool> warned_divergence{false};
  GridBarrier* grid_barrier = nullptr;
};

/// A launch that waits for its configuration; what `stash` has kept.
std::shared_ptr<Closure> take_stashed();
/// Checks the configuration and runs the kernel, or records it when the stream is being captured.
cudaError_t start_launch(std::shared_ptr<Closure> closure, dim3 grid, dim3 block,
                         std::size_t dynamic_shared, cudaStream_t stream, bool cooperative,
                         Site site);
/// How many blocks of a kernel fit on one multiprocessor.
int resident_blocks(int threads, std::size_t shared_bytes);

/// Order in which the threads of a block are started.
enum class Schedule { forward, reverse, random };
Schedule schedule();

}  // namespace kb::cpu
