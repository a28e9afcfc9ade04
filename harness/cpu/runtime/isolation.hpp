// Threads of a block that run one after the other, but see memory as if they ran at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "held_writes.hpp"
#include "shared_memory.hpp"
#include "write_log.hpp"

namespace kb::cpu {

/// What a thread writes to shared memory, its warp sees after a warp operation and all threads
/// after a barrier, or when any of them comes to an atomic or a fence. Until then it is held back,
/// so an update that nothing orders is lost here as it is on a GPU, while a program without races
/// does not notice. The same holds for device memory (HeldWrites) where the block runs alone.
///
/// Memory is compared at each such place, so it is for a few blocks only.
class Isolation {
 public:
  explicit Isolation(SharedMemory& shared) : shared_(shared) {}
  Isolation(const Isolation&) = delete;  // the copy is one mapping for the process's life

  /// For the next block: whether threads are isolated from each other, and whether it runs alone.
  void begin_block(bool wanted, bool alone);
  /// Shared memory is again what all threads have written.
  void end_block();

  // Without isolation these do nothing.

  /// A thread of this warp runs from now on.
  void enter(int lane) {
    warp_ = lane / 32;
    inside_ = on_ || alone_;
  }
  /// The running thread meets others or ends. Again does nothing.
  void leave() {
    if (std::exchange(inside_, false)) take();
  }
  /// All threads see what those of this warp have written.
  void meet_warp(int warp);
  void meet_block();
  /// At an atomic or a fence.
  void meet_all();

 private:
  void take();
  void grow();

  SharedMemory& shared_;
  bool on_ = false;     ///< for shared memory
  bool alone_ = false;  ///< for device memory
  bool inside_ = false;
  int warp_ = 0;
  std::size_t bytes_ = 0;
  std::int64_t budget_ = 0;
  char* copy_ = nullptr;  ///< of shared memory, without what is held back
  WriteLog log_;
};

}  // namespace kb::cpu
