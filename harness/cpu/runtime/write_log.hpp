// What isolated threads have written, by warp, until their warp or their block meets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace kb::cpu {

/// Bytes at places of memory that exists twice: as threads see it, and as it was before the running
/// thread went on.
class WriteLog {
 public:
  /// Finds what differs in `bytes` bytes (whole words) and takes it out of `now`.
  /// @param place  of the first byte, whatever the owner means by that
  void take(int warp, std::uint32_t place, char* now, const char* before, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
      std::uint64_t a, b;
      std::memcpy(&a, now + at, sizeof a);
      std::memcpy(&b, before + at, sizeof b);
      if (a == b) continue;
      for (std::size_t i = at; i < at + sizeof a; ++i)
        if (now[i] != before[i])
          written_[warp].push_back({static_cast<std::uint32_t>(place + i), now[i]});
      std::memcpy(now + at, &b, sizeof b);
    }
  }

  /// Calls write(place, value) for what a warp has written, and forgets it.
  template <class Write>
  void flush(int warp, Write write) {
    for (const Byte& each : written_[warp]) write(each.place, each.value);
    written_[warp].clear();
  }
  template <class Write>
  void flush(Write write) {
    for (int warp = 0; warp < warps; ++warp) flush(warp, write);
  }

 private:
  static constexpr int warps = 32;
  struct Byte {
    std::uint32_t place;
    char value;
  };
  std::array<std::vector<Byte>, warps> written_;
};

}  // namespace kb::cpu
