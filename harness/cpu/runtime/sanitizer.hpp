// What AddressSanitizer and ThreadSanitizer have to be told; everything is a no-op without them.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>

#include "fiber.hpp"

#if defined(KB_SANITIZE_ADDRESS)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(KB_SANITIZE_THREAD)
extern "C" {
void* __tsan_get_current_fiber();
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
void __tsan_acquire(void* address);
void __tsan_release(void* address);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
void __tsan_set_fiber_name(void* fiber, const char* name);
}
#endif

namespace kb::cpu {

inline void poison([[maybe_unused]] const void* at, [[maybe_unused]] std::size_t bytes) {
#if defined(KB_SANITIZE_ADDRESS)
  __asan_poison_memory_region(at, bytes);
#endif
}

inline void unpoison([[maybe_unused]] const void* at, [[maybe_unused]] std::size_t bytes) {
#if defined(KB_SANITIZE_ADDRESS)
  __asan_unpoison_memory_region(at, bytes);
#endif
}

/// Makes a sanitizer that ends the process say in which kernel and thread.
void watch_sanitizer();
/// The first data race since the last call, as a sentence, or "".
std::string take_race();

/// Fills memory with 0xFF; to ThreadSanitizer this is no access of the CUDA thread that causes it.
inline void fill_unwritten(void* at, std::size_t bytes) {
#if defined(KB_SANITIZE_THREAD)
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
  std::memset(at, 0xff, bytes);
#if defined(KB_SANITIZE_THREAD)
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
#endif
}

/// Frames that were abandoned on this stack have left poison behind.
inline void forget_stack(Fiber& fiber) {
  unpoison(fiber.stack, fiber.stack_bytes);
  fiber.asan_stack = nullptr;
}

inline void begin_switch([[maybe_unused]] void** save, [[maybe_unused]] Fiber& to) {
#if defined(KB_SANITIZE_ADDRESS)
  __sanitizer_start_switch_fiber(save, to.stack, to.stack_bytes);
#elif defined(KB_SANITIZE_THREAD)
  __tsan_switch_to_fiber(to.tsan_fiber, 1 /* no synchronisation */);
#endif
}

/// @param from  learns its stack bounds, which for the hub only ASan knows
inline void finish_switch([[maybe_unused]] void* saved, [[maybe_unused]] Fiber& from) {
#if defined(KB_SANITIZE_ADDRESS)
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(saved, &bottom, &bytes);
  if (!from.stack) {
    from.stack = static_cast<char*>(const_cast<void*>(bottom));
    from.stack_bytes = bytes;
  }
#endif
}

/// Happens-before edge through `key`.
inline void order_release([[maybe_unused]] const void* key) {
#if defined(KB_SANITIZE_THREAD)
  __tsan_release(const_cast<void*>(key));
#endif
}

inline void order_acquire([[maybe_unused]] const void* key) {
#if defined(KB_SANITIZE_THREAD)
  __tsan_acquire(const_cast<void*>(key));
#endif
}

/// What a fiber tells the one that it switches to.
struct Handover {
  Fiber* from;
  Fiber* to;
  void (*entry)(Fiber&);
};

/// First thing on `self` after a switch.
inline void arrive(boost::context::detail::transfer_t transfer, Fiber& self) {
  Fiber& from = *static_cast<Handover*>(transfer.data)->from;
  from.context = transfer.fctx;
  finish_switch(self.asan_stack, from);
}

/// Leaves `from` and continues `to`; returns when something switches back to `from`.
/// @param entry  runs on a fresh `to` and never returns
__attribute__((always_inline)) inline void switch_fiber(Fiber& from, Fiber& to,
                                                        void (*entry)(Fiber&)) {
  if (!to.context) prepare_fiber(to);
  Handover handover{&from, &to, entry};
  begin_switch(&from.asan_stack, to);
  arrive(boost::context::detail::jump_fcontext(to.context, &handover), from);
}

}  // namespace kb::cpu
