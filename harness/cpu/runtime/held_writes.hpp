// What isolated blocks write to device memory, held back until the writing thread meets others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "device_memory.hpp"
#include "write_log.hpp"

namespace kb::cpu {

/// What Isolation does for shared memory, for device memory and for blocks that run one after the
/// other while no others run: what a block has written when it ends, later ones see only from their
/// first atomic or fence on. So an update that nothing orders is lost between blocks, too.
///
/// Device memory is read-only meanwhile. The first write to a page faults: the page is copied and
/// opened, and compared with its copy whenever a thread leaves.
class HeldWrites {
 public:
  /// The process's only one: memory is protected for all.
  static HeldWrites& instance();

  void begin();
  /// Before each block that runs alone. Holds writes again if the block before had too many.
  void begin_block();
  /// The running thread of this warp leaves.
  void leave(int warp);
  void meet_warp(int warp);
  void meet_block();
  void meet_all();
  /// All that is held goes to memory; from now on nothing is held. Any thread may call it, also
  /// while others run.
  void give_up();
  /// After the last block that ran alone.
  void end();
  /// Opens the page of a write that faulted. False if the address lies in no memory that it
  /// protects. Safe in the handler of a fault of the running thread.
  bool open(const void* address);

 private:
  struct Byte {
    std::uint32_t place;
    char value;
  };
  void write(std::uint32_t place, char value);
  void write_all();
  void stop();

  std::mutex mutex_;
  bool on_ = false;        ///< ranges_ are protected
  bool given_up_ = false;  ///< until begin()
  std::vector<Pages> ranges_;
  std::vector<char*> opened_;  ///< pages; room is reserved, as a handler may not allocate
  char* copies_ = nullptr;     ///< of these pages; a place counts their bytes
  WriteLog log_;               ///< of the block that runs
  std::vector<Byte> earlier_;  ///< of blocks that have ended
  std::int64_t budget_ = 0;
};

}  // namespace kb::cpu
