// The futex calls are the shared (not private) kind: the two sides are different processes.
#include "sandbox/protocol/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>
#include <utility>

namespace kb::protocol {

using Clock = std::chrono::steady_clock;

namespace {

thread_local Polling polled;

// Between two looks at the clock lie some 50 ns, unless the core was taken away: by the machine's
// other work, or from a virtual machine by its host. Timer ticks are shorter than the limit.
void note_gap(std::chrono::nanoseconds gap) {
  constexpr std::chrono::nanoseconds limit = std::chrono::microseconds(50);
  polled.time += gap;
  if (gap > limit) polled.stalled += gap;
}

}  // namespace

Polling polling() { return polled; }

double Polling::stalled_since(const Polling& earlier) const {
  const auto spent = time - earlier.time;
  if (spent.count() == 0) return 0;
  return static_cast<double>((stalled - earlier.stalled).count()) /
         static_cast<double>(spent.count());
}

uint32_t wait_change(const std::atomic<uint32_t>& value, uint32_t old,
                     std::chrono::nanoseconds timeout) {
  const auto start = Clock::now();
  auto last_look = start;
  while (true) {
    const uint32_t seen = value.load(std::memory_order_acquire);
    const auto now = Clock::now();
    const auto waited = now - start;
    const bool polls = waited < spin_time;
    if (polls) note_gap(now - std::exchange(last_look, now));
    if (seen != old || waited >= timeout) return seen;
    if (polls) {
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
