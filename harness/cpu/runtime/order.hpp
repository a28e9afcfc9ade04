// The orders in which blocks, warps and threads run, and which blocks are isolated: drawn anew for
// each launch from one seed, so that the seed repeats them.
#pragma once

#include <cudacpu/types.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace kb::cpu {

/// How orders are chosen. `forward` and `reverse` are the ones in which most mistakes go unseen:
/// threads advance together, in ascending or descending order.
struct Schedule {
  enum Kind { forward, reverse, drawn } kind = forward;
  std::uint64_t seed = 0;  ///< of what is drawn
};
/// As KB_CPU_SCHEDULE says: forward, reverse or drawn:<seed in hex>.
const Schedule& schedule();

/// The order of the threads of one block.
struct ThreadOrder {
  bool ahead = false;       ///< a warp runs on as far as it can before the next one gets its turn
  bool last_waits = false;  ///< who completes a barrier queues up like those who waited
  unsigned lane_mask = 0;   ///< the lane with number i in turn is i ^ lane_mask
  std::array<std::uint8_t, 32> warps{};  ///< by turn
  std::array<std::uint8_t, 32> turns{};  ///< by warp
};
/// @param launch  number of the launch in this process
ThreadOrder thread_order(std::uint64_t launch, std::uint64_t block, int threads);

/// Hands out the blocks of a launch, each once, to all who run them.
class BlockQueue {
 public:
  explicit BlockQueue(std::uint64_t blocks) : blocks_(blocks) {}

  /// Draws an order for launch number `launch` of the process, and blocks to be isolated. Before
  /// anybody takes one.
  /// @param earlier  launches of the same kernel
  /// @param wait  whether blocks wait for each other, so that none can be run alone
  void draw(std::uint64_t launch, std::uint64_t earlier, dim3 grid, bool wait);
  bool has_isolated() const { return !isolated_.empty(); }
  bool is_isolated(std::uint64_t number) const;

  /// The next isolated block, to be run before all others.
  std::optional<std::uint64_t> take_isolated();
  /// The next block that take_isolated() is not for.
  std::optional<std::uint64_t> take();
  /// How many positions have been taken.
  std::uint64_t taken() const { return next_.load(std::memory_order_relaxed); }
  /// From now on take() gives all that is left, in ascending order: so programs expect blocks to
  /// start that wait for others.
  void ascend();

 private:
  std::uint64_t number(std::uint64_t position) const;
  std::uint64_t position(std::uint64_t number) const;
  std::optional<std::uint64_t> take_ascending();
  void add_isolated(std::uint64_t number);
  bool taken_alone(std::uint64_t number) const;

  const std::uint64_t blocks_;
  std::uint64_t offset_ = 0;
  bool descending_ = false, wait_ = false;
  std::vector<std::uint64_t> isolated_;
  std::size_t alone_ = 0;  ///< how many of them take_isolated() has given
  std::atomic<std::uint64_t> next_{0};
  std::mutex mutex_;
  std::optional<std::uint64_t> taken_before_;  ///< positions, when ascend() was called
  std::uint64_t lowest_ = 0;                   ///< all blocks below have been taken
};

}  // namespace kb::cpu
