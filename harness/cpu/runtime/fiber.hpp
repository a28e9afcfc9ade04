// A stack that CUDA threads run on, and the switch between two of them.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>

#include "sanitizer.hpp"

namespace kb::cpu {

class Worker;

/// ThreadSanitizer knows CUDA threads by their fiber: each thread of a block has its own.
#if defined(KB_SANITIZE_THREAD)
inline constexpr bool lane_owns_fiber = true;
#else
inline constexpr bool lane_owns_fiber = false;
#endif

/// One coroutine stack of a worker; a worker's own OS stack is the fiber called hub.
struct Fiber {
  boost::context::detail::fcontext_t context = nullptr;  ///< null: has to be started afresh
  char* stack = nullptr;                                 ///< lowest byte that may be used
  std::size_t stack_bytes = 0;
  char* mapped = nullptr;  ///< lowest byte that can be written so far
  Worker* worker = nullptr;
  int assigned = -1;  ///< unstarted lane to run when resumed
  bool busy = false;  ///< holds the frames of a started lane
  SanitizerFiber sanitizer;

  /// True when `address` lies in the guard page below the stack, or where it could not grow.
  bool overflows_at(const void* address) const;
  /// Makes the stack writable down to `address`. False if that is not a part of it still missing.
  bool grow_to(const void* address);
};

/// Maps `count` stacks with a guard page below each (as long as the process-wide budget of
/// mappings lasts).
char* map_stacks(int count);
/// Gives fiber number `index` its stack inside `stacks`.
void attach_stack(Fiber& fiber, char* stacks, int index);
/// Puts the start of a fresh fiber onto its stack.
void prepare_fiber(Fiber& fiber);

/// What a fiber tells the one that it switches to.
struct Handover {
  Fiber *from, *to;
  void (*entry)(Fiber&);
};

/// First thing on `self` after a switch.
inline void arrive(boost::context::detail::transfer_t transfer, Fiber& self) {
  Fiber& from = *static_cast<Handover*>(transfer.data)->from;
  from.context = transfer.fctx;
  finish_switch(self.sanitizer, from.stack, from.stack_bytes);
}

/// Leaves `from` and continues `to`; returns when something switches back to `from`.
/// @param entry  runs on a fresh `to` and never returns
__attribute__((always_inline)) inline void switch_fiber(Fiber& from, Fiber& to,
                                                        void (*entry)(Fiber&)) {
  if (!to.context) prepare_fiber(to);
  Handover handover{&from, &to, entry};
  begin_switch(from.sanitizer, to.sanitizer, to.stack, to.stack_bytes);
  arrive(boost::context::detail::jump_fcontext(to.context, &handover), from);
}

}  // namespace kb::cpu
