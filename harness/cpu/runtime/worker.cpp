// The scheduler: starts the threads of a block, switches between them and runs block after block.
#include "worker.hpp"

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <utility>

#include "diagnostics.hpp"
#include "switching.hpp"

#define KB_CPU_DEFINE(name) __attribute__((tls_model("initial-exec"))) __thread uint3 kb_cpu_##name;
KB_CPU_BUILTINS(KB_CPU_DEFINE)

namespace kb::cpu {

__thread Worker* active_worker = nullptr;

// One more than threads: where each lane has a fiber, they move on by one from block to block.
Worker::Worker() : stacks_(map_stacks(max_block + 1)) {
  hub_.worker = this;
  hub_.sanitizer.adopt_current();
}

Worker& Worker::mine() {
  static thread_local Worker* worker = new Worker;
  return *worker;
}

void Worker::run(Launch& launch) {
  begin_launch(launch);
  while (!failed()) {
    const auto number = launch.queue.take();
    if (!number) break;
    run_block(*number);
    if (launch.cooperative) launch.grid_barrier.leave();
  }
  end_launch();
}

void Worker::run_isolated(Launch& launch) {
  begin_launch(launch);
  while (!failed()) {
    const auto number = launch.queue.take_isolated();
    if (!number) break;
    run_block(*number);
  }
  end_launch();
}

bool Worker::failed() const {
  return launch_->error.load(std::memory_order_relaxed) != cudaSuccess;
}

void Worker::begin_launch(Launch& launch) {
  launch_ = &launch;
  kernel_ = &launch.closure->kernel;
  watch_faults();
  prepare_threads();
  kb_cpu_blockDim = launch.block;
  kb_cpu_gridDim = launch.grid;
  active_worker = this;
  shared_.begin_launch(launch.dynamic_shared, launch.shared_limit());
  order_release(this);  // what the host did happens before all threads of the launch
}

void Worker::end_launch() {
  active_worker = nullptr;
  order_acquire(&home_);  // and all threads before what the host does next
  launch_ = nullptr;
}

void Worker::prepare_threads() {
  const dim3 block = launch_->block;
  threads_ = static_cast<int>(launch_->threads());
  // A fiber that a CUDA thread created would count as ordered behind that thread.
  while (lane_owns_fiber && static_cast<int>(fibers_.size()) <= threads_) make_fiber();
  if (block.x == shape_.x && block.y == shape_.y && block.z == shape_.z) return;
  shape_ = block;
  int i = 0;
  for (unsigned z = 0; z < block.z; ++z)
    for (unsigned y = 0; y < block.y; ++y)
      for (unsigned x = 0; x < block.x; ++x) index_[i++] = {x, y, z};
}

void Worker::run_block(std::uint64_t number) {
  const dim3 grid = launch_->grid;
  kb_cpu_blockIdx = {static_cast<unsigned>(number % grid.x),
                     static_cast<unsigned>(number / grid.x % grid.y),
                     static_cast<unsigned>(number / grid.x / grid.y)};
  block_ = number;
  if (schedule().kind == Schedule::drawn || ordered_ != threads_) {
    order_ = thread_order(launch_->number, number, threads_);
    ordered_ = threads_;
  }
  started_ = tried_ = 0;
  running_ = threads_;
  for (int warp = 0; warp * 32 < threads_; ++warp) {
    const int lanes = std::min(32, threads_ - warp * 32);
    live_[warp] = lanes == 32 ? ~0u : (1u << lanes) - 1;
  }
  shared_.begin_block(launch_->dynamic_shared);
  isolation_.begin_block(launch_->queue.is_isolated(number), launch_->alone);
  const int first = next_unstarted();
  Fiber& fiber = fiber_for(first);
  fiber.assigned = first;
  switch_to(fiber);
  lane_ = -1;
  isolation_.end_block();
  if (std::exchange(abandoned_, false))
    forget_block();
  else
    shared_.end_block();
}

/// After an abandoned block: nobody waits any more, and fibers in the middle of a thread start
/// over.
void Worker::forget_block() {
  idle_ = fibers_;
  for (Fiber* each : fibers_) {
    if (std::exchange(each->busy, false)) each->context = nullptr;
    each->assigned = -1;
  }
  open_.fill(0);
  waits_.fill({});
  waiting_groups_ = 0;
  block_data_.fill(nullptr);
  barrier_ = {};
  ready_head_ = ready_tail_ = ready_turns_ = 0;
  ready_lanes_.fill(0);
}

void Worker::make_fiber() {
  auto* fiber = new Fiber;
  const int index = static_cast<int>(fibers_.size());
  fiber->worker = this;
  attach_stack(*fiber, stacks_, index);
  fiber->sanitizer.create("CUDA thread " + std::to_string(index));
  fibers_.push_back(fiber);
  idle_.push_back(fiber);
}

Fiber& Worker::fiber_for(int lane) {
  // What one fiber does is in order for ThreadSanitizer. From block to block the fibers move on by
  // one, so that at least threads of different blocks with the same index race.
  if (lane_owns_fiber) return *fibers_[(lane + block_) % (threads_ + 1)];
  if (idle_.empty()) make_fiber();
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
    Fiber* next = &hub_;
    if (const int ready = next_ready(); ready >= 0) {
      next = home_[ready];
    } else if (const int fresh = next_unstarted(); fresh >= 0) {
      next = lane_owns_fiber ? &fiber_for(fresh) : &self;
      next->assigned = fresh;
      if (next == &self) continue;
    } else if (running_ > 0) {
      if (release_converging()) continue;
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
  isolation_.enter(lane);
  kernel_->run(launch_->closure->storage);
  order_release(&home_);
  self.busy = false;
  finish_lane();
}

void Worker::finish_lane() {
  isolation_.leave();
  const int lane = std::exchange(lane_, -1), warp = lane / 32;
  --running_;
  live_[warp] &= ~(1u << (lane % 32));
  if (waiting_groups_ > 0) {
    for (unsigned rest = open_[warp]; rest; rest &= rest - 1) {
      WarpGroup& group = groups_[warp][__builtin_ctz(rest)];
      if (group.arrived == (group.mask & live_[warp])) complete(group, warp);
    }
  }
  // Also when nobody waits yet: the slot may still point into a frame of an earlier barrier.
  block_data_[lane] = nullptr;
  if (barrier_.arrived > 0 && barrier_.arrived == static_cast<unsigned>(running_)) complete_block();
}

void Worker::yield() {
  if (failed()) abandon();
  if (launch_->crowded.load(std::memory_order_relaxed)) std::this_thread::yield();
  meet_others();
  if (ready_head_ == ready_tail_ && ready_turns_ == 0 && started_ == threads_) return;
  queue_up(lane_);
  // A fresh lane first: the ready ones may be spinning like the caller.
  park({"spin loop", {"", 0}, 0}, true);
  meet_others();
}

void Worker::meet_others() {
  isolation_.leave();
  isolation_.meet_all();
  isolation_.enter(lane_);
}

void Worker::abandon() {
  abandoned_ = true;
  lane_ = -1;
  current_->busy = true;
  switch_to(hub_);
  std::abort();  // the hub resets this fiber before it is used again
}

std::string Worker::where() const {
  std::string text = "kernel " + std::string(kernel_->name) + " (" + place(kernel_->site) +
                     "), block " + triple(kb_cpu_blockIdx);
  if (lane_ >= 0) text += ", thread " + triple(index_[lane_]);
  return text;
}

bool Wait::same_as(const Wait& other) const {
  return what == other.what && mask == other.mask && site.line == other.site.line &&
         site.file == other.site.file;
}

void Worker::deadlock() {
  lane_ = -1;
  struct Waiting {
    Wait wait;
    std::string threads;
    int ranges;
  };
  std::vector<Waiting> places;
  for (int first = 0, end; first < threads_; first = end) {
    const Wait wait = waits_[first];
    for (end = first + 1; end < threads_ && wait.same_as(waits_[end]);) ++end;
    if (!wait.what) continue;
    std::string range = std::to_string(first);
    if (end > first + 1) range += "-" + std::to_string(end - 1);
    auto known = std::find_if(places.begin(), places.end(),
                              [&](const Waiting& each) { return wait.same_as(each.wait); });
    if (known == places.end()) {
      places.push_back({wait, range, 1});
    } else if (++known->ranges <= 4) {
      known->threads += ", " + (known->ranges == 4 ? "..." : range);
    }
  }
  // The summary is one sentence: the first places are enough to see who misses whom.
  constexpr std::size_t most = 3;
  std::string lines, summary;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& [wait, threads, ranges] = places[i];
    const bool several = threads.find_first_not_of("0123456789") != std::string::npos;
    std::string line = (several ? "threads " : "thread ") + threads +
                       (several ? " wait in " : " waits in ") + wait.what;
    if (wait.mask) line += " (mask " + hex(wait.mask) + ")";
    line += " at " + place(wait.site);
    lines += "  " + line + "\n";
    if (i < most) summary += (i ? ", " : "") + line;
  }
  if (places.size() > most)
    summary += " and others in " + std::to_string(places.size() - most) + " more ways";
  fault(cudaErrorLaunchTimeout,
        "deadlock: " + summary + ", and no other thread of the block can run", lines);
}

}  // namespace kb::cpu
