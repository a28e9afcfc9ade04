// What AddressSanitizer and ThreadSanitizer have to be told; everything is a no-op without them.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>

#if defined(KB_SANITIZE_ADDRESS)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define KB_IF_ASAN(...) __VA_ARGS__
#else
#define KB_IF_ASAN(...)
#endif
#if defined(KB_SANITIZE_THREAD)
extern "C" {
void* __tsan_get_current_fiber();
void* __tsan_create_fiber(unsigned flags);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
void __tsan_set_fiber_name(void* fiber, const char* name);
void __tsan_acquire(void* address);
void __tsan_release(void* address);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#define KB_IF_TSAN(...) __VA_ARGS__
#else
#define KB_IF_TSAN(...)
#endif

namespace kb::cpu {

/// Makes a sanitizer that ends the process say in which kernel and thread.
void watch_sanitizer();
/// The first data race since the last call, as a sentence, or "".
std::string take_race();

/// Whether accesses of shared memory are instrumented.
#if defined(KB_SANITIZE_ADDRESS) || defined(KB_SANITIZE_THREAD)
inline constexpr bool sanitizes = true;
#else
inline constexpr bool sanitizes = false;
#endif

inline void poison([[maybe_unused]] const void* at, [[maybe_unused]] std::size_t bytes) {
  KB_IF_ASAN(__asan_poison_memory_region(at, bytes);)
}
inline void unpoison([[maybe_unused]] const void* at, [[maybe_unused]] std::size_t bytes) {
  KB_IF_ASAN(__asan_unpoison_memory_region(at, bytes);)
}

/// Fills memory with 0xFF; to ThreadSanitizer this is no access of the CUDA thread that causes it.
inline void fill_unwritten(void* at, std::size_t bytes) {
  KB_IF_TSAN(AnnotateIgnoreWritesBegin(__FILE__, __LINE__);)
  std::memset(at, 0xff, bytes);
  KB_IF_TSAN(AnnotateIgnoreWritesEnd(__FILE__, __LINE__);)
}

/// A fiber as the sanitizers know it.
struct SanitizerFiber {
  void* asan_stack = nullptr;
  void* tsan_fiber = nullptr;

  void adopt_current() { KB_IF_TSAN(tsan_fiber = __tsan_get_current_fiber();) }
  void create([[maybe_unused]] const std::string& name) {
    KB_IF_TSAN(tsan_fiber = __tsan_create_fiber(0);
               __tsan_set_fiber_name(tsan_fiber, name.c_str());)
  }
};

/// Frames that were abandoned on this stack have left poison behind.
inline void forget_stack(SanitizerFiber& fiber, void* stack, std::size_t bytes) {
  unpoison(stack, bytes);
  fiber.asan_stack = nullptr;
}

inline void begin_switch([[maybe_unused]] SanitizerFiber& from, [[maybe_unused]] SanitizerFiber& to,
                         [[maybe_unused]] void* stack, [[maybe_unused]] std::size_t bytes) {
  KB_IF_ASAN(__sanitizer_start_switch_fiber(&from.asan_stack, stack, bytes);)
  KB_IF_TSAN(__tsan_switch_to_fiber(to.tsan_fiber, 1 /* no synchronisation */);)
}

/// @param stack  of the fiber left behind; for a worker's own stack, which only ASan knows, it is
///               null at first and filled in here
inline void finish_switch([[maybe_unused]] SanitizerFiber& self, [[maybe_unused]] char*& stack,
                          [[maybe_unused]] std::size_t& bytes) {
#if defined(KB_SANITIZE_ADDRESS)
  const void* bottom = nullptr;
  std::size_t size = 0;
  __sanitizer_finish_switch_fiber(self.asan_stack, &bottom, &size);
  if (stack) return;
  stack = static_cast<char*>(const_cast<void*>(bottom));
  bytes = size;
#endif
}

/// Happens-before edge through `key`.
inline void order_release([[maybe_unused]] const void* key) {
  KB_IF_TSAN(__tsan_release(const_cast<void*>(key));)
}
inline void order_acquire([[maybe_unused]] const void* key) {
  KB_IF_TSAN(__tsan_acquire(const_cast<void*>(key));)
}

}  // namespace kb::cpu
