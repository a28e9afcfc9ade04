// Waiting for a number in shared memory to change: a short spin, then the kernel.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace kb::protocol {

/// How long a side polls. On a GPU machine times are taken across this wait and a sleeper wakes up
/// to 50 us late, so both sides poll through a whole exchange; without a GPU cores are scarcer than
/// time.
#ifdef KB_CUDA
inline constexpr std::chrono::nanoseconds spin_time = std::chrono::seconds(1);
#else
inline constexpr std::chrono::nanoseconds spin_time = std::chrono::microseconds(200);
#endif

/// Waits until `value` differs from `old` or `timeout` has passed; returns the value last seen.
uint32_t wait_change(const std::atomic<uint32_t>& value, uint32_t old,
                     std::chrono::nanoseconds timeout);

/// What the polling of this thread has shown of its core.
struct Polling {
  std::chrono::nanoseconds time{};     ///< spent polling
  std::chrono::nanoseconds stalled{};  ///< of that, gaps of more than 50 us between two looks

  /// The share that was stalled since an earlier reading; 0 where nothing was polled.
  double stalled_since(const Polling& earlier) const;
};
Polling polling();

/// Stores `next` and wakes the process that waits for it.
void publish(std::atomic<uint32_t>& value, uint32_t next);

}  // namespace kb::protocol
