// Fiber stacks and switches on top of Boost.Context.
#include "fiber.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "sanitizer.hpp"

namespace kb::cpu {
namespace {

using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

constexpr std::size_t page = 4096;
#if defined(KB_SANITIZE_ADDRESS) || defined(KB_SANITIZE_THREAD)
constexpr std::size_t stack_size = 512 * 1024;  // instrumented frames are several times larger
#else
constexpr std::size_t stack_size = 128 * 1024;
#endif

// Linux allows a process 65,530 mappings and each guard page costs two; device allocations need
// theirs too.
std::atomic<int> guard_budget{12000};

void start(transfer_t transfer) {
  auto* handover = static_cast<Handover*>(transfer.data);
  Fiber& self = *handover->to;
  auto entry = handover->entry;
  arrive(transfer, self);
  entry(self);
  std::abort();  // an entry never returns: it would have nowhere to go
}

}  // namespace

void prepare_fiber(Fiber& fiber) {
  forget_stack(fiber);
  fiber.context = make_fcontext(fiber.stack + fiber.stack_bytes, fiber.stack_bytes, start);
}

std::size_t stack_stride() { return stack_size + page; }

char* map_stacks(int count) {
  // Only reserved: a limit on memory counts what may be written, and few blocks have most threads.
  void* base = mmap(nullptr, stack_stride() * count, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (base == MAP_FAILED) {
    std::perror("[kb-cpu] cannot map fiber stacks");
    std::abort();
  }
  return static_cast<char*>(base);
}

void attach_stack(Fiber& fiber, char* stacks, int index) {
  char* low = stacks + stack_stride() * index;
  const bool guarded = guard_budget.fetch_sub(1, std::memory_order_relaxed) > 0;
  if (mprotect(guarded ? low + page : low, guarded ? stack_size : stack_stride(),
               PROT_READ | PROT_WRITE) != 0) {
    std::perror("[kb-cpu] no memory for a fiber's stack");
    std::abort();
  }
  fiber.stack = low + page;
  // Stacks that start at the same offset in their pages would fight for the same cache sets.
  fiber.stack_bytes = stack_size - (index % 21) * 192;
}

bool in_stack_guard(const Fiber& fiber, const void* address) {
  auto* at = static_cast<const char*>(address);
  return fiber.stack && at < fiber.stack && at >= fiber.stack - page;
}

}  // namespace kb::cpu
