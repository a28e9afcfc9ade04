// The futex calls are the shared (not private) kind: the two sides are different processes.
#include "protocol/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace kb::protocol {

using Clock = std::chrono::steady_clock;

uint32_t wait_change(const std::atomic<uint32_t>& value, uint32_t old,
                     std::chrono::nanoseconds timeout) {
  const auto start = Clock::now();
  while (true) {
    const uint32_t seen = value.load(std::memory_order_acquire);
    const auto waited = Clock::now() - start;
    if (seen != old || waited >= timeout) return seen;
    if (waited < spin_time) {
      __builtin_ia32_pause();
      continue;
    }
    const auto left = timeout - waited;
    const timespec limit{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
    syscall(SYS_futex, &value, FUTEX_WAIT, old, &limit, nullptr, 0);
  }
}

void publish(std::atomic<uint32_t>& value, uint32_t next) {
  value.store(next, std::memory_order_release);
  syscall(SYS_futex, &value, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace kb::protocol
