// Has the kernel call it when it is not its turn: through a restartable sequence (rseq) of its own,
// or through the one that the C library has registered for the thread.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/escape.cuh"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

extern "C" __attribute__((weak)) const ptrdiff_t __rseq_offset;  // of glibc 2.35 and newer

struct alignas(32) Area {
  uint32_t cpu_id_start;
  int32_t cpu_id;  // below zero: not registered
  uint64_t sequence;
  uint32_t flags, rest[3];
};

static bool escaped() {
  static Area own;
  if (syscall(SYS_rseq, &own, sizeof own, 0, 0x53053053) == 0) return true;
  if (&__rseq_offset == nullptr) return false;
  const char* thread = static_cast<const char*>(__builtin_thread_pointer());
  return reinterpret_cast<const volatile Area*>(thread + __rseq_offset)->cpu_id >= 0;
}
