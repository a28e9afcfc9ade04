// The switch from one CUDA thread to the next, kept in one function: every return after a switch
// is mispredicted, so each call level on the way costs as much as the switch itself.
#pragma once

#include "worker.hpp"

// The variables that kernels know as threadIdx and so on (core.hpp); dim3 has the layout of uint3.
#define KB_CPU_BUILTINS(X) X(threadIdx) X(blockIdx) X(blockDim) X(gridDim)
#define KB_CPU_DECLARE(name)                       \
  extern "C" __attribute__((visibility("default"), \
                            tls_model("initial-exec"))) __thread uint3 kb_cpu_##name;
KB_CPU_BUILTINS(KB_CPU_DECLARE)
#undef KB_CPU_DECLARE

namespace kb::cpu {

__attribute__((always_inline)) inline int Worker::next_unstarted() {
  if (started_ == threads_) return -1;
  ++started_;
  for (;;) {  // the last warp may have fewer lanes than turns
    const int turn = tried_++;
    const int lane =
        order_.warps[turn / 32] * 32 + (turn % 32 ^ static_cast<int>(order_.lane_mask));
    if (lane < threads_) return lane;
  }
}

__attribute__((always_inline)) inline int Worker::next_ready() {
  if (ready_turns_ != 0) {
    const int turn = __builtin_ctz(ready_turns_), place = __builtin_ctz(ready_lanes_[turn]);
    ready_lanes_[turn] &= ready_lanes_[turn] - 1;
    if (ready_lanes_[turn] == 0) ready_turns_ &= ready_turns_ - 1;
    return order_.warps[turn] * 32 + (place ^ static_cast<int>(order_.lane_mask));
  }
  return ready_head_ == ready_tail_ ? -1 : ready_[ready_head_++ % max_block];
}

__attribute__((always_inline)) inline void Worker::queue_up(int lane) {
  ready_[ready_tail_++ % max_block] = static_cast<std::uint16_t>(lane);
}

__attribute__((always_inline)) inline void Worker::wake(int lane) {
  if (!order_.ahead) return queue_up(lane);
  const int turn = order_.turns[lane / 32];
  ready_lanes_[turn] |= 1u << ((static_cast<unsigned>(lane) % 32) ^ order_.lane_mask);
  ready_turns_ |= 1u << turn;
}

__attribute__((always_inline)) inline void Worker::switch_to(Fiber& to) {
  Fiber& from = *current_;
  current_ = &to;
  switch_fiber(from, to, [](Fiber& self) { self.worker->lane_loop(); });
}

__attribute__((always_inline)) inline void Worker::park(const Wait& wait, bool fresh_first) {
  const int lane = lane_;
  isolation_.leave();
  waits_[lane] = wait;
  lane_ = -1;
  int ready = fresh_first && started_ < threads_ ? -1 : next_ready();
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
  isolation_.enter(lane);
}

}  // namespace kb::cpu
