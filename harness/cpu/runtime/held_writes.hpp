// What isolated blocks write to device memory, held back until the writing thread meets others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "device_memory.hpp"

namespace kb::cpu {

/// While it is on, each thread sees device memory as it was when any thread last met others
/// (barrier, warp operation, atomic, fence), and what it has written itself. So an update that
/// nothing orders is lost, between threads of a block and between two blocks that run one after the
/// other. Only for blocks that run alone.
///
/// Device memory is read-only then. The first write to a page faults: the page is copied and
/// opened, and compared with its copy whenever a thread leaves.
class HeldWrites {
 public:
  /// The process's only one: memory is protected for all.
  static HeldWrites& instance();

  void begin();
  /// The running thread leaves: what it has written is taken out of memory and held.
  void leave();
  /// Threads have met: what is held goes to memory.
  void apply();
  /// Applies all; from now on nothing is held. Any thread may call it, also while others run.
  void give_up();
  /// After the last block that ran alone.
  void end();
  /// Opens the page of a write that faulted. False if the address lies in no memory that it
  /// protects. Safe in the handler of a fault of the running thread.
  bool open(const void* address);

 private:
  struct Byte {
    std::uint16_t page, offset;  ///< among those that are open, and in it
    char value;
  };
  void apply_held();
  void stop();

  std::mutex mutex_;
  bool on_ = false;
  std::vector<Pages> ranges_;  ///< what begin() has protected
  std::vector<char*> opened_;  ///< pages; room is reserved, as a handler may not allocate
  char* copies_ = nullptr;     ///< of these pages
  std::vector<Byte> held_;
  std::int64_t budget_ = 0;
};

}  // namespace kb::cpu
