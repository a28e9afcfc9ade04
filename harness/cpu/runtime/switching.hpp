// The switch from one CUDA thread to the next, kept in one function: every return after a switch
// is mispredicted, so each call level on the way costs as much as the switch itself.
#pragma once

#include <cudacpu/core.hpp>

#include "sanitizer.hpp"
#include "worker.hpp"

extern "C" {
#define KB_CPU_BUILTIN(type, name)             \
  extern __attribute__((visibility("default"), \
                        tls_model("initial-exec"))) __thread type kb_cpu_##name
KB_CPU_BUILTIN(uint3, threadIdx);
KB_CPU_BUILTIN(uint3, blockIdx);
KB_CPU_BUILTIN(uint3, blockDim);
KB_CPU_BUILTIN(uint3, gridDim);
#undef KB_CPU_BUILTIN
}

namespace kb::cpu {

inline std::uint64_t next_random(std::uint64_t& state) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

__attribute__((always_inline)) inline int Worker::next_unstarted() {
  return started_ < threads_ ? order_[started_++] : -1;
}

__attribute__((always_inline)) inline int Worker::next_ready() {
  if (ready_head_ == ready_tail_) return -1;
  if (schedule() == Schedule::random) {
    const unsigned other = ready_head_ + next_random(random_) % (ready_tail_ - ready_head_);
    std::swap(ready_[ready_head_ % max_block], ready_[other % max_block]);
  }
  return ready_[ready_head_++ % max_block];
}

__attribute__((always_inline)) inline void Worker::wake(int lane) {
  ready_[ready_tail_++ % max_block] = static_cast<std::uint16_t>(lane);
}

__attribute__((always_inline)) inline void Worker::switch_to(Fiber& to) {
  Fiber& from = *current_;
  current_ = &to;
  switch_fiber(from, to, [](Fiber& self) { self.worker->lane_loop(); });
}

__attribute__((always_inline)) inline void Worker::park(const Wait& wait) {
  const int lane = lane_;
  waits_[lane] = wait;
  lane_ = -1;
  int ready = next_ready();
  if (ready < 0 && started_ == threads_ && release_converging()) ready = next_ready();
  if (ready >= 0) {
    if (ready != lane) switch_to(*home_[ready]);
  } else if (const int fresh = next_unstarted(); fresh >= 0) {
    Fiber& fiber = fiber_for(fresh);
    fiber.assigned = fresh;
    switch_to(fiber);
  } else {
    deadlock();
  }
  lane_ = lane;
  kb_cpu_threadIdx = index_[lane];
  waits_[lane].what = nullptr;
}

}  // namespace kb::cpu
