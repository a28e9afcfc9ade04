// Threads of a block that run one after the other, but see memory as if they ran at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "held_writes.hpp"
#include "shared_memory.hpp"

namespace kb::cpu {

/// Between two places where threads meet (barriers, warp operations, atomics, fences), a thread
/// sees shared memory as it was when it last met others, and what it has written itself. What
/// threads write in between comes together afterwards, the last write counts. So an update that
/// nothing orders is lost here as it is on a GPU, while a program without races does not notice.
///
/// Memory is copied and compared at each such place, so it is for a few blocks only. The same holds
/// for device memory (HeldWrites) where the block runs alone.
class Isolation {
 public:
  /// Number of the view that all threads of the block share; others are the warps' numbers.
  static constexpr int block_view = 32;

  explicit Isolation(SharedMemory& shared) : shared_(shared) {}
  Isolation(const Isolation&) = delete;  // the views are one mapping for the process's life

  /// For the next block: whether threads are isolated from each other, and whether the block runs
  /// alone.
  void begin_block(bool wanted, bool alone);
  /// Shared memory is again what all threads have written.
  void end_block();

  // Without isolation these do nothing.

  /// The running thread sees this view from now on.
  void enter(int view) {
    if (on_) load(view);
    holding_ = alone_;
  }
  /// The running thread meets others: they get what it has written. Again does nothing.
  void leave() {
    if (on_ && inside_) publish();
    if (std::exchange(holding_, false)) HeldWrites::instance().leave();
  }
  /// Makes the view of what all threads have written so far.
  void renew(int view) {
    if (on_) make(view);
    if (alone_) HeldWrites::instance().apply();
  }

 private:
  void load(int view);
  void publish();
  void make(int view);
  char* copy(int number);
  void grow();
  void spend(std::size_t bytes);

  SharedMemory& shared_;
  bool on_ = false, inside_ = false;
  bool alone_ = false, holding_ = false;  ///< as on_ and inside_, for device memory
  int loaded_ = -1;                       ///< the view that shared memory holds
  std::size_t bytes_ = 0;
  std::int64_t budget_ = 0;
  char* copies_ = nullptr;  ///< of the shared memory: the views, then what all have written
};

}  // namespace kb::cpu
