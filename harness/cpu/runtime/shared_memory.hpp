// The shared memory of the block that a worker runs.
#pragma once

#include <cudacpu/core.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kb::cpu {

/// An arena in which each variable of the current block lies between red zones. All bytes are 0xFF
/// when a block starts, so that an uninitialised float reads as NaN and an integer as -1. Pages
/// that no block of the launch has needed are closed: an access far behind the last variable
/// faults.
class SharedMemory {
 public:
  SharedMemory();
  SharedMemory(const SharedMemory&) = delete;  // the arena is one mapping for the process's life

  /// Closes what earlier launches needed and this one does not ask for. `limit` holds for static
  /// and dynamic bytes together.
  void begin_launch(std::size_t dynamic_bytes, std::size_t limit);
  void begin_block(std::size_t dynamic_bytes);
  /// Looks at the red zones; faults the launch when one was written to.
  void end_block();
  void* address(SharedVariable& variable);
  void* dynamic() { return dynamic_; }
  /// "of shared memory 40 bytes past ...", or "" if the address lies elsewhere.
  std::string describe(const void* address) const;

  static constexpr std::size_t capacity = 1 << 20;
  static constexpr int unwritten = 0xFF;  ///< each byte
  char* begin() { return arena_; }
  /// Bytes from begin() that the block has used so far, red zones included; whole words.
  std::size_t used() const { return static_cast<std::size_t>(top_ - arena_ + 7) / 8 * 8; }

 private:
  struct Slot {
    std::uint64_t block = 0;
    char* address = nullptr;
  };
  struct Placed {
    const SharedVariable* variable;
    char* end;
  };
  /// Faults when the variables up to `last` do not fit.
  void check_sizes(const SharedVariable& last) const;
  char* place(std::size_t bytes, std::size_t alignment);
  void open_until(const char* end);  ///< pages up to there, and no others

  char* arena_ = nullptr;
  char* opened_ = nullptr;  ///< end of the pages that are open
  char* top_ = nullptr;
  char* high_water_ = nullptr;
  char* dynamic_ = nullptr;
  std::size_t dynamic_bytes_ = 0;
  std::size_t static_bytes_ = 0;
  std::size_t limit_ = 0;
  std::uint64_t block_ = 0;
  std::vector<Slot> slots_;
  std::vector<Placed> placed_;
};

}  // namespace kb::cpu
