// Pages are protected and compared; nothing knows of single accesses.
#include "held_writes.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace kb::cpu {
namespace {

constexpr std::size_t page = 4096;
// With more pages or comparisons a block would take some 10 ms; then the rest runs without.
constexpr std::size_t most_pages = 512;
constexpr std::int64_t budget = 64 << 20;  // bytes compared in one launch

}  // namespace

HeldWrites& HeldWrites::instance() {
  static auto* held = new HeldWrites;
  return *held;
}

void HeldWrites::begin() {
  const std::lock_guard lock(mutex_);
  if (!copies_) {
    void* mapped = mmap(nullptr, most_pages * page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) {
      std::perror("[kb-cpu] cannot map copies of device memory");
      std::abort();
    }
    copies_ = static_cast<char*>(mapped);
    opened_.reserve(most_pages);
  }
  ranges_.clear();
  ranges_ = DeviceMemory::instance().guarded_pages();
  for (const Pages& each : ranges_) mprotect(each.begin, each.bytes, PROT_READ);
  budget_ = budget;
  on_ = true;
}

bool HeldWrites::open(const void* address) {
  const std::lock_guard lock(mutex_);
  const auto* at = static_cast<const char*>(address);
  for (const Pages& each : ranges_) {
    if (at < each.begin || at >= each.begin + each.bytes) continue;
    if (!on_) return true;  // given up meanwhile: the write succeeds now
    if (opened_.size() == most_pages) {
      stop();
      return true;
    }
    char* const start = each.begin + (at - each.begin) / page * page;
    std::memcpy(copies_ + opened_.size() * page, start, page);
    opened_.push_back(start);
    return mprotect(start, page, PROT_READ | PROT_WRITE) == 0;
  }
  return false;
}

void HeldWrites::leave() {
  const std::lock_guard lock(mutex_);
  if (!on_) return;
  for (std::size_t p = 0; p < opened_.size(); ++p) {
    char *const now = opened_[p], *const before = copies_ + p * page;
    if (std::memcmp(now, before, page) == 0) continue;
    for (std::size_t at = 0; at < page; at += sizeof(std::uint64_t)) {
      if (std::memcmp(now + at, before + at, sizeof(std::uint64_t)) == 0) continue;
      for (std::size_t i = at; i < at + sizeof(std::uint64_t); ++i) {
        if (now[i] == before[i]) continue;
        held_.push_back({static_cast<std::uint16_t>(p), static_cast<std::uint16_t>(i), now[i]});
        now[i] = before[i];
      }
    }
  }
  budget_ -= static_cast<std::int64_t>(opened_.size() * page);
  if (budget_ < 0) stop();
}

void HeldWrites::apply() {
  const std::lock_guard lock(mutex_);
  if (on_) apply_held();
}

void HeldWrites::apply_held() {
  for (const Byte& each : held_)
    opened_[each.page][each.offset] = copies_[each.page * page + each.offset] = each.value;
  held_.clear();
}

void HeldWrites::give_up() {
  const std::lock_guard lock(mutex_);
  if (on_) stop();
}

void HeldWrites::end() {
  const std::lock_guard lock(mutex_);
  if (on_) stop();
  ranges_.clear();
}

void HeldWrites::stop() {
  on_ = false;
  apply_held();
  opened_.clear();
  for (const Pages& each : ranges_) mprotect(each.begin, each.bytes, PROT_READ | PROT_WRITE);
}

}  // namespace kb::cpu
