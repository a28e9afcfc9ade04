// The scheduler: starts the threads of a block, switches between them and runs block after block.
#include "worker.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "diagnostics.hpp"
#include "grid_barrier.hpp"
#include "sanitizer.hpp"
#include "switching.hpp"

extern "C" {
#define KB_CPU_BUILTIN(type, name) \
  __attribute__((visibility("default"), tls_model("initial-exec"))) __thread type kb_cpu_##name
KB_CPU_BUILTIN(uint3, threadIdx);
KB_CPU_BUILTIN(uint3, blockIdx);
KB_CPU_BUILTIN(uint3, blockDim);
KB_CPU_BUILTIN(uint3, gridDim);
#undef KB_CPU_BUILTIN
}

namespace kb::cpu {

__thread Worker* active_worker = nullptr;

Worker::Worker() {
  hub_.worker = this;
#if defined(KB_SANITIZE_THREAD)
  hub_.tsan_fiber = __tsan_get_current_fiber();
#endif
  stacks_ = map_stacks(max_block);
  fibers_.reserve(max_block);
  idle_.reserve(max_block);
}

Worker& Worker::mine() {
  static thread_local Worker* worker = new Worker;
  return *worker;
}

void Worker::run(Launch& launch) {
  launch_ = &launch;
  kernel_ = &launch.closure->kernel;
  watch_faults();
  prepare_threads();
  kb_cpu_blockDim = launch.block;
  kb_cpu_gridDim = launch.grid;
  active_worker = this;
  order_release(this);  // what the host did happens before all threads of the launch
  const std::uint64_t blocks = launch.blocks();
  while (launch.error.load(std::memory_order_relaxed) == cudaSuccess) {
    const std::uint64_t number = launch.next.fetch_add(1, std::memory_order_relaxed);
    if (number >= blocks) break;
    run_block(number);
    if (launch.grid_barrier) launch.grid_barrier->leave();
  }
  active_worker = nullptr;
  order_acquire(&home_);  // and all threads before what the host does next
  launch_ = nullptr;
}

void Worker::prepare_threads() {
  const dim3 block = launch_->block;
  threads_ = launch_->threads();
  // A fiber that a CUDA thread created would count as ordered behind that thread.
  if (lane_owns_fiber) fiber_for(threads_ - 1);
  if (block.x != shape_.x || block.y != shape_.y || block.z != shape_.z) {
    shape_ = block;
    int i = 0;
    for (unsigned z = 0; z < block.z; ++z)
      for (unsigned y = 0; y < block.y; ++y)
        for (unsigned x = 0; x < block.x; ++x) index_[i++] = {x, y, z};
    for (i = 0; i < threads_; ++i)
      order_[i] =
          static_cast<std::uint16_t>(schedule() == Schedule::reverse ? threads_ - 1 - i : i);
  }
}

void Worker::run_block(std::uint64_t number) {
  const dim3 grid = launch_->grid;
  kb_cpu_blockIdx = {static_cast<unsigned>(number % grid.x),
                     static_cast<unsigned>(number / grid.x % grid.y),
                     static_cast<unsigned>(number / grid.x / grid.y)};
  if (schedule() == Schedule::random)
    for (int i = threads_ - 1; i > 0; --i)
      std::swap(order_[i], order_[next_random(random_) % (i + 1)]);
  started_ = 0;
  running_ = threads_;
  for (int warp = 0; warp * 32 < threads_; ++warp) {
    const int lanes = std::min(32, threads_ - warp * 32);
    live_[warp] = lanes == 32 ? ~0u : (1u << lanes) - 1;
  }
  shared_.begin_block(launch_->dynamic_shared);

  const int first = next_unstarted();
  Fiber& fiber = fiber_for(first);
  fiber.assigned = first;
  switch_to(fiber);

  lane_ = -1;
  if (abandoned_) {
    abandoned_ = false;
    idle_.clear();
    for (Fiber* each : fibers_) {
      if (each->busy) each->context = nullptr;
      each->busy = false;
      each->assigned = -1;
      idle_.push_back(each);
    }
    open_.fill(0);
    for (Wait& wait : waits_) wait.what = nullptr;
    waiting_groups_ = 0;
    barrier_ = {};
    ready_head_ = ready_tail_ = 0;
  } else {
    shared_.end_block();
  }
}

void Worker::make_fiber(int index) {
  auto* fiber = new Fiber;
  fiber->worker = this;
  attach_stack(*fiber, stacks_, index);
#if defined(KB_SANITIZE_THREAD)
  fiber->tsan_fiber = __tsan_create_fiber(0);
  __tsan_set_fiber_name(fiber->tsan_fiber, ("CUDA thread " + std::to_string(index)).c_str());
#endif
  fibers_.push_back(fiber);
  idle_.push_back(fiber);
}

Fiber& Worker::fiber_for(int lane) {
  if (lane_owns_fiber) {
    while (static_cast<int>(fibers_.size()) <= lane) make_fiber(static_cast<int>(fibers_.size()));
    return *fibers_[lane];
  }
  if (idle_.empty()) make_fiber(static_cast<int>(fibers_.size()));
  Fiber* fiber = idle_.back();
  idle_.pop_back();
  return *fiber;
}

// Body of every fiber. A fiber goes on starting fresh threads until one of them has to wait, so a
// kernel without barriers is one loop on one stack.
void Worker::lane_loop() {
  Fiber& self = *current_;
  for (;;) {
    if (self.assigned >= 0) {
      start_lane(std::exchange(self.assigned, -1));
      continue;
    }
    Fiber* next = nullptr;
    if (const int ready = next_ready(); ready >= 0) {
      next = home_[ready];
    } else if (const int fresh = next_unstarted(); fresh >= 0) {
      next = lane_owns_fiber ? &fiber_for(fresh) : &self;
      next->assigned = fresh;
      if (next == &self) continue;
    } else if (running_ == 0) {
      next = &hub_;
    } else if (release_converging()) {
      continue;
    } else {
      deadlock();
    }
    if (!lane_owns_fiber) idle_.push_back(&self);
    switch_to(*next);
  }
}

void Worker::start_lane(int lane) {
  Fiber& self = *current_;
  lane_ = lane;
  kb_cpu_threadIdx = index_[lane];
  home_[lane] = &self;
  self.busy = true;
  order_acquire(this);
  kernel_->run(launch_->closure->storage);
  order_release(&home_);
  self.busy = false;
  finish_lane();
}

void Worker::finish_lane() {
  const int lane = std::exchange(lane_, -1), warp = lane / 32;
  const unsigned bit = 1u << (lane % 32);
  --running_;
  live_[warp] &= ~bit;
  if (waiting_groups_ > 0) {
    for (unsigned rest = open_[warp]; rest; rest &= rest - 1) {
      WarpGroup& group = groups_[warp][__builtin_ctz(rest)];
      if (group.arrived == (group.mask & live_[warp])) complete(group, warp);
    }
  }
  if (barrier_.arrived > 0) {
    block_data_[lane] = nullptr;
    if (barrier_.arrived == static_cast<unsigned>(running_)) complete_block();
  }
}

void Worker::yield() {
  if (ready_head_ == ready_tail_ && started_ == threads_) return;
  // A fresh lane first: the ready ones may be spinning like the caller.
  if (started_ < threads_) {
    const int fresh = next_unstarted();
    const int lane = lane_;
    wake(lane);
    waits_[lane] = {"spin loop", {"", 0}, 0};
    Fiber& fiber = fiber_for(fresh);
    fiber.assigned = fresh;
    lane_ = -1;
    switch_to(fiber);
    lane_ = lane;
    kb_cpu_threadIdx = index_[lane];
    waits_[lane].what = nullptr;
    return;
  }
  wake(lane_);
  park({"spin loop", {"", 0}, 0});
}

void Worker::abandon() {
  abandoned_ = true;
  lane_ = -1;
  current_->busy = true;
  switch_to(hub_);
  std::abort();  // the hub resets this fiber before it is used again
}

void Worker::abandon_after_grid_failure() {
  // The block that failed has told why; when it simply ended, this is the first to notice.
  if (launch_->error.load() != cudaSuccess) abandon();
  fault(cudaErrorLaunchTimeout, "deadlock: grid.sync() waits for blocks that have already ended");
}

std::string Worker::where() const {
  std::string text = "kernel " + std::string(kernel_->name) + " (" + place(kernel_->site) +
                     "), block " + triple(kb_cpu_blockIdx);
  if (lane_ >= 0) text += ", thread " + triple(index_[lane_]);
  return text;
}

std::string Worker::waiting_lanes(std::string* summary) const {
  std::string lines;
  for (int first = 0; first < threads_;) {
    const Wait& wait = waits_[first];
    int last = first;
    auto same = [&](const Wait& other) {
      return other.what && !std::strcmp(other.what, wait.what) && other.mask == wait.mask &&
             other.site.line == wait.site.line && other.site.file == wait.site.file;
    };
    if (!wait.what) {
      ++first;
      continue;
    }
    while (last + 1 < threads_ && same(waits_[last + 1])) ++last;
    char mask[32] = "";
    if (wait.mask) std::snprintf(mask, sizeof mask, " (mask 0x%08x)", wait.mask);
    const std::string range =
        first == last ? "thread " + std::to_string(first) + " waits"
                      : "threads " + std::to_string(first) + "-" + std::to_string(last) + " wait";
    const std::string line = range + " in " + wait.what + mask + " at " + place(wait.site);
    lines += "  " + line + "\n";
    // The summary is one sentence: the first places are enough to see who misses whom.
    if (summary->size() < 400) *summary += (summary->empty() ? "" : ", ") + line;
    first = last + 1;
  }
  return lines;
}

void Worker::deadlock() {
  lane_ = -1;
  std::string summary;
  const std::string lines = waiting_lanes(&summary);
  fault(cudaErrorLaunchTimeout,
        "deadlock: " + summary + ", and no other thread of the block can run", lines);
}

}  // namespace kb::cpu
