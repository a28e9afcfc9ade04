// A stack that CUDA threads run on, and the switch between two of them, with the annotations that
// AddressSanitizer and ThreadSanitizer need.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>

namespace kb::cpu {

class Worker;

/// One coroutine stack of a worker; a worker's own OS stack is the fiber called hub.
struct Fiber {
  boost::context::detail::fcontext_t context = nullptr;  ///< null: has to be started afresh
  char* stack = nullptr;                                 ///< lowest usable byte
  std::size_t stack_bytes = 0;
  Worker* worker = nullptr;
  int assigned = -1;  ///< unstarted lane to run when resumed
  bool busy = false;  ///< holds the frames of a started lane
  void* asan_stack = nullptr;
  void* tsan_fiber = nullptr;
};

/// Maps `count` stacks with a guard page below each (as long as the process-wide budget of
/// mappings lasts).
char* map_stacks(int count);
/// Bytes from one stack's lowest address to the next, guard page included.
std::size_t stack_stride();
/// Gives fiber number `index` its stack inside `stacks`.
void attach_stack(Fiber& fiber, char* stacks, int index);
/// True when `address` lies in the guard page below the fiber's stack.
bool in_stack_guard(const Fiber& fiber, const void* address);

/// Puts the start of a fresh fiber onto its stack.
void prepare_fiber(Fiber& fiber);

/// ThreadSanitizer knows CUDA threads by their fiber: thread i of every block runs on fiber i.
#if defined(KB_SANITIZE_THREAD)
inline constexpr bool lane_owns_fiber = true;
#else
inline constexpr bool lane_owns_fiber = false;
#endif

}  // namespace kb::cpu
