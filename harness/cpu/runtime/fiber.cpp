// Fiber stacks on top of Boost.Context.
#include "fiber.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace kb::cpu {
namespace {

constexpr std::size_t page = 4096;
// A CUDA thread may have 512 KB of local memory; instrumented frames are larger.
constexpr std::size_t stack_size = 1 << 20;
// Most need little, and what can be written counts against limits on memory.
#if defined(KB_SANITIZE_ADDRESS) || defined(KB_SANITIZE_THREAD)
constexpr std::size_t start_size = 512 << 10;
#else
constexpr std::size_t start_size = 128 << 10;
#endif
constexpr std::size_t stride = stack_size + page;

// Linux allows a process 65,530 mappings and each guard page costs two; device allocations need
// theirs too.
std::atomic<int> guard_budget{12000};

[[noreturn]] void start(boost::context::detail::transfer_t transfer) {
  auto* handover = static_cast<Handover*>(transfer.data);
  Fiber& self = *handover->to;
  auto* entry = handover->entry;
  arrive(transfer, self);
  entry(self);
  std::abort();  // an entry never returns: it would have nowhere to go
}

}  // namespace

bool Fiber::overflows_at(const void* address) const {
  const auto* at = static_cast<const char*>(address);
  return stack && at < mapped && at >= stack - page;
}

bool Fiber::grow_to(const void* address) {
  const auto* at = static_cast<const char*>(address);
  if (!stack || at < stack || at >= mapped) return false;
  char* low = stack + std::max<std::ptrdiff_t>(0, at - stack - 64 * page) / page * page;
  if (mprotect(low, mapped - low, PROT_READ | PROT_WRITE) != 0) return false;
  mapped = low;
  return true;
}

void prepare_fiber(Fiber& fiber) {
  forget_stack(fiber.sanitizer, fiber.stack, fiber.stack_bytes);
  fiber.context = boost::context::detail::make_fcontext(fiber.stack + fiber.stack_bytes,
                                                        fiber.stack_bytes, start);
}

char* map_stacks(int count) {
  // Only reserved: a limit on memory counts what may be written, and few blocks have most threads.
  void* base = mmap(nullptr, stride * static_cast<std::size_t>(count), PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (base == MAP_FAILED) {
    std::perror("[kb-cpu] cannot map fiber stacks");
    std::abort();
  }
  return static_cast<char*>(base);
}

void attach_stack(Fiber& fiber, char* stacks, int index) {
  const auto number = static_cast<std::size_t>(index);
  fiber.stack = stacks + stride * number + page;
  const bool guarded = guard_budget.fetch_sub(1, std::memory_order_relaxed) > 0;
  fiber.mapped = guarded ? fiber.stack + stack_size - start_size : fiber.stack - page;
  if (mprotect(fiber.mapped, fiber.stack + stack_size - fiber.mapped, PROT_READ | PROT_WRITE) !=
      0) {
    std::perror("[kb-cpu] no memory for a fiber's stack");
    std::abort();
  }
  // Stacks that start at the same offset in their pages would fight for the same cache sets.
  fiber.stack_bytes = stack_size - number % 21 * 192;
}

}  // namespace kb::cpu
