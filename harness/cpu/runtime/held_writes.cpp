// Pages are protected and compared; nothing knows of single accesses.
#include "held_writes.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace kb::cpu {
namespace {

constexpr std::size_t page = 4096;
// With more pages or comparisons a block would take some 20 ms; then its rest runs without.
constexpr std::size_t most_pages = 512;
constexpr std::int64_t budget = 128 << 20;  // bytes compared

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
  ranges_ = DeviceMemory::instance().guarded_pages();
  given_up_ = false;
}

bool HeldWrites::open(const void* address) {
  const std::lock_guard lock(mutex_);
  const auto* at = static_cast<const char*>(address);
  for (const Pages& each : ranges_) {
    if (at < each.begin || at >= each.begin + each.bytes) continue;
    if (!on_) return true;  // stopped meanwhile: the write succeeds now
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

void HeldWrites::begin_block() {
  const std::lock_guard lock(mutex_);
  log_.flush([&](auto place, char value) { earlier_.push_back({place, value}); });
  budget_ = budget;
  if (on_ || given_up_) return;
  for (const Pages& each : ranges_) mprotect(each.begin, each.bytes, PROT_READ);
  on_ = true;
}

void HeldWrites::leave(int warp) {
  const std::lock_guard lock(mutex_);
  if (!on_) return;
  for (std::size_t p = 0; p < opened_.size(); ++p) {
    const char* const before = copies_ + p * page;
    if (std::memcmp(opened_[p], before, page) == 0) continue;
    log_.take(warp, static_cast<std::uint32_t>(p * page), opened_[p], before, page);
  }
  budget_ -= static_cast<std::int64_t>(opened_.size() * page);
  if (budget_ < 0) stop();
}

void HeldWrites::write(std::uint32_t place, char value) {
  opened_[place / page][place % page] = copies_[place] = value;
}

void HeldWrites::meet_warp(int warp) {
  const std::lock_guard lock(mutex_);
  if (on_) log_.flush(warp, [&](auto place, char value) { write(place, value); });
}

void HeldWrites::meet_block() {
  const std::lock_guard lock(mutex_);
  if (on_) log_.flush([&](auto place, char value) { write(place, value); });
}

void HeldWrites::meet_all() {
  const std::lock_guard lock(mutex_);
  if (on_) write_all();
}

void HeldWrites::write_all() {
  for (const Byte& each : earlier_) write(each.place, each.value);
  earlier_.clear();
  log_.flush([&](auto place, char value) { write(place, value); });
}

void HeldWrites::give_up() {
  const std::lock_guard lock(mutex_);
  given_up_ = true;
  if (on_) stop();
}

void HeldWrites::end() {
  const std::lock_guard lock(mutex_);
  if (on_) stop();
  ranges_.clear();
}

void HeldWrites::stop() {
  on_ = false;
  write_all();
  opened_.clear();
  for (const Pages& each : ranges_) mprotect(each.begin, each.bytes, PROT_READ | PROT_WRITE);
}

}  // namespace kb::cpu
