// The barrier between the blocks of a cooperative launch, each of which has its own OS thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace kb::cpu {

class GridBarrier {
 public:
  explicit GridBarrier(std::uint64_t blocks) : blocks_(blocks) {}

  /// Returns true when all blocks have come, false when one can never come.
  bool wait() {
    std::unique_lock lock(mutex_);
    const std::uint64_t mine = generation_;
    if (++arrived_ == blocks_) {
      arrived_ = 0;
      ++generation_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return generation_ != mine || left_ > 0; });
    return generation_ != mine;
  }

  /// A block has ended; nobody may wait for it any more.
  void leave() {
    std::lock_guard lock(mutex_);
    ++left_;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t blocks_, arrived_ = 0, left_ = 0, generation_ = 0;
};

}  // namespace kb::cpu
