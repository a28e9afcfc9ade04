// Views as whole copies, compared in words.
#include "isolation.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace kb::cpu {
namespace {

constexpr int written = Isolation::block_view + 1, copies = written + 1;
// Copied and compared per block: some 10 ms.
constexpr std::int64_t budget = 64 << 20;

}  // namespace

char* Isolation::copy(int number) { return copies_ + SharedMemory::capacity * number; }

void Isolation::begin_block(bool wanted, bool alone) {
  on_ = wanted;
  alone_ = wanted && alone;
  holding_ = false;
  inside_ = false;
  loaded_ = -1;
  bytes_ = 0;
  budget_ = budget;
  if (!on_ || copies_) return;
  void* mapped = mmap(nullptr, SharedMemory::capacity * copies, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    std::perror("[kb-cpu] cannot map copies of shared memory");
    std::abort();
  }
  copies_ = static_cast<char*>(mapped);
}

// Variables get their places when the first thread comes to them.
void Isolation::grow() {
  const std::size_t now = shared_.used();
  for (int i = 0; i < copies && now > bytes_; ++i) {
    std::memset(copy(i) + bytes_, SharedMemory::unwritten, now - bytes_);
  }
  bytes_ = now;
}

void Isolation::spend(std::size_t bytes) {
  budget_ -= static_cast<std::int64_t>(bytes);
  if (budget_ < 0 && !inside_) end_block();
}

void Isolation::load(int view) {
  grow();
  if (loaded_ != view) {
    std::memcpy(shared_.begin(), copy(view), bytes_);
    spend(bytes_);
    if (!on_) return;
  }
  loaded_ = view;
  inside_ = true;
}

void Isolation::publish() {
  inside_ = false;
  grow();
  char *now = shared_.begin(), *before = copy(loaded_), *all = copy(written);
  for (std::size_t at = 0; at < bytes_; at += sizeof(std::uint64_t)) {
    std::uint64_t a, b;
    std::memcpy(&a, now + at, sizeof a);
    std::memcpy(&b, before + at, sizeof b);
    if (a == b) continue;
    for (std::size_t i = at; i < at + sizeof a; ++i) {
      if (now[i] != before[i]) all[i] = now[i];
    }
    std::memcpy(now + at, &b, sizeof b);
  }
  spend(bytes_);
}

void Isolation::make(int view) {
  grow();
  std::memcpy(copy(view), copy(written), bytes_);
  if (loaded_ == view) loaded_ = -1;
  spend(bytes_);
}

void Isolation::end_block() {
  if (!on_) return;
  leave();
  grow();
  std::memcpy(shared_.begin(), copy(written), bytes_);
  on_ = false;
}

}  // namespace kb::cpu
