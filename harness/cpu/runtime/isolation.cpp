// Shared memory is compared as a whole, in words.
#include "isolation.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace kb::cpu {
namespace {

// Compared per block: some 10 ms.
constexpr std::int64_t budget = 64 << 20;

}  // namespace

void Isolation::begin_block(bool wanted, bool alone) {
  on_ = wanted;
  alone_ = wanted && alone;
  inside_ = false;
  bytes_ = 0;
  budget_ = budget;
  if (alone_) HeldWrites::instance().begin_block();
  if (!on_ || copy_) return;
  void* mapped = mmap(nullptr, SharedMemory::capacity, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    std::perror("[kb-cpu] cannot map a copy of shared memory");
    std::abort();
  }
  copy_ = static_cast<char*>(mapped);
}

// Variables get their places when the first thread comes to them.
void Isolation::grow() {
  const std::size_t now = shared_.used();
  if (now > bytes_) std::memset(copy_ + bytes_, SharedMemory::unwritten, now - bytes_);
  bytes_ = now;
}

void Isolation::take() {
  if (on_) {
    grow();
    log_.take(warp_, 0, shared_.begin(), copy_, bytes_);
    budget_ -= static_cast<std::int64_t>(bytes_);
    if (budget_ < 0) end_block();
  }
  if (alone_) HeldWrites::instance().leave(warp_);
}

void Isolation::meet_warp(int warp) {
  if (on_) log_.flush(warp, [&](auto at, char value) { shared_.begin()[at] = copy_[at] = value; });
  if (alone_) HeldWrites::instance().meet_warp(warp);
}

void Isolation::meet_block() {
  if (on_) log_.flush([&](auto at, char value) { shared_.begin()[at] = copy_[at] = value; });
  if (alone_) HeldWrites::instance().meet_block();
}

void Isolation::meet_all() {
  meet_block();
  if (alone_) HeldWrites::instance().meet_all();
}

void Isolation::end_block() {
  if (!on_) return;
  log_.flush([&](auto at, char value) { shared_.begin()[at] = value; });
  on_ = false;
}

}  // namespace kb::cpu
