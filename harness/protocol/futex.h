// Waiting for a number in shared memory to change: a short spin, then the kernel.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace kb::protocol {

/// Waits until `value` differs from `old` or `timeout` has passed; returns the value last seen.
/// @param spin how long to poll before sleeping; polling costs a core and saves about 50 us.
uint32_t wait_change(const std::atomic<uint32_t>& value, uint32_t old,
                     std::chrono::nanoseconds spin, std::chrono::nanoseconds timeout);

/// Stores `next` and wakes the process that waits for it.
void publish(std::atomic<uint32_t>& value, uint32_t next);

}  // namespace kb::protocol
