// The arena behind __shared__ variables and dynamic shared memory.
#include "shared_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "device_limits.hpp"
#include "diagnostics.hpp"
#include "sanitizer.hpp"
#include "worker.hpp"

namespace kb::cpu {
namespace {

constexpr std::size_t red_zone = 64;
constexpr std::size_t static_limit = limits::static_shared;
constexpr std::size_t dynamic_alignment = 1024;
constexpr std::size_t page = 4096;

std::atomic<int> variables{0};

}  // namespace

SharedMemory::SharedMemory() {
  void* arena = mmap(nullptr, capacity, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (arena == MAP_FAILED) {
    std::perror("[kb-cpu] cannot map shared memory");
    std::abort();
  }
  arena_ = opened_ = high_water_ = static_cast<char*>(arena);
}

void SharedMemory::open_until(const char* end) {
  char* const wanted = arena_ + (end - arena_ + page - 1) / page * page;
  if (wanted == opened_) return;
  const auto [from, to] = std::minmax(wanted, opened_);
  const int access = wanted > opened_ ? PROT_READ | PROT_WRITE : PROT_NONE;
  if (mprotect(from, to - from, access) != 0) {
    std::perror("[kb-cpu] cannot protect shared memory");
    std::abort();
  }
  opened_ = wanted;
}

// What the launch asks for stays open, since closing takes longer than a small block.
void SharedMemory::begin_launch(std::size_t dynamic_bytes, std::size_t limit) {
  limit_ = limit;
  const char* const asked = arena_ + red_zone + dynamic_alignment + dynamic_bytes + red_zone;
  if (opened_ > asked) open_until(asked);
}

void SharedMemory::begin_block(std::size_t dynamic_bytes) {
  ++block_;
  placed_.clear();
  static_bytes_ = 0;
#if defined(KB_SANITIZE_THREAD)
  // Fresh memory per block, or the accesses of consecutive blocks would look like races.
  if (high_water_ != arena_)
    mmap(arena_, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
#endif
  poison(arena_, high_water_ - arena_);
  top_ = high_water_ = arena_;
  dynamic_bytes_ = dynamic_bytes;
  dynamic_ = place(dynamic_bytes, dynamic_alignment);
}

char* SharedMemory::place(std::size_t bytes, std::size_t alignment) {
  const std::size_t at = top_ - arena_ + red_zone;  // the arena starts with a page
  char* address = arena_ + (at + alignment - 1) / alignment * alignment;
  if (address + bytes + red_zone > opened_) open_until(address + bytes + red_zone);
  unpoison(top_, address + bytes + red_zone - top_);
  fill_unwritten(top_, address + bytes + red_zone - top_);
  poison(top_, address - top_);
  poison(address + bytes, red_zone);
  top_ = high_water_ = address + bytes + red_zone;
  return address;
}

std::string SharedMemory::describe(const void* address) const {
  const char* at = static_cast<const char*>(address);
  if (at < arena_ || at >= arena_ + capacity) return "";
  return "of shared memory " + std::to_string(at - top_) +
         " bytes past the end of what the block has";
}

void SharedMemory::check_sizes(const SharedVariable& last) const {
  const bool together = dynamic_bytes_ == 0 || static_bytes_ + dynamic_bytes_ <= limit_;
  if (static_bytes_ <= static_limit && together) return;
  const std::string sizes = "the static shared memory, " + std::to_string(static_bytes_) +
                            " bytes up to variable " + last.name + " (" +
                            kb::cpu::place(last.site) + "), ";
  if (static_bytes_ > static_limit)
    fault(cudaErrorInvalidKernelImage,
          sizes + "exceeds " + std::to_string(static_limit) + " bytes; nvcc rejects this");
  fault(cudaErrorInvalidValue, sizes + "and the dynamic one, " + std::to_string(dynamic_bytes_) +
                                   " bytes, exceed together " + std::to_string(limit_) +
                                   " bytes; a GPU refuses the launch" +
                                   (limit_ == limits::shared_per_block
                                        ? " (cudaFuncAttributeMaxDynamicSharedMemorySize raises it)"
                                        : ""));
}

void* SharedMemory::address(SharedVariable& variable) {
  int id = __atomic_load_n(&variable.id, __ATOMIC_RELAXED);
  if (id == 0) {
    static std::mutex mutex;
    std::lock_guard lock(mutex);
    id = variable.id ? variable.id : ++variables;
    __atomic_store_n(&variable.id, id, __ATOMIC_RELAXED);
  }
  if (slots_.size() <= static_cast<std::size_t>(id)) slots_.resize(id + 16);
  Slot& slot = slots_[id];
  if (slot.block != block_) {
    static_bytes_ += variable.bytes;
    check_sizes(variable);
    slot.address = place(variable.bytes, std::max<std::size_t>(variable.alignment, 128));
    slot.block = block_;
    placed_.push_back({&variable, slot.address + variable.bytes});
  }
  return slot.address;
}

void SharedMemory::end_block() {
#if !defined(KB_SANITIZE_ADDRESS)
  auto damaged = [](const char* end) {
    return std::any_of(end, end + red_zone,
                       [](char byte) { return byte != static_cast<char>(0xff); });
  };
  for (const Placed& each : placed_)
    if (damaged(each.end))
      return fail(cudaErrorIllegalAddress,
                  std::string("a thread wrote past the end of the shared variable ") +
                      each.variable->name + " (" + kb::cpu::place(each.variable->site) + ")");
  if (damaged(dynamic_ + dynamic_bytes_))
    fail(cudaErrorIllegalAddress, "a thread wrote past the end of the dynamic shared memory of " +
                                      std::to_string(dynamic_bytes_) + " bytes");
#endif
}

void* SharedVariable::address() {
  Worker* worker = Worker::active();
  if (!worker) host_misuse("a __shared__ variable", site);
  return worker->shared().address(*this);
}

void* dynamic_shared() {
  Worker* worker = Worker::active();
  if (!worker) host_misuse("dynamic shared memory", {"", 0});
  return worker->shared().dynamic();
}

}  // namespace kb::cpu
