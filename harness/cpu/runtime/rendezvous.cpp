// Barriers and warp operations: lanes wait until all partners have come, the last one combines.
#include "diagnostics.hpp"
#include "switching.hpp"

namespace kb::cpu {
namespace {

Worker& caller(const char* what, Site site) {
  Worker* worker = Worker::active();
  if (!worker || !worker->in_lane()) host_misuse(what, site);
  return *worker;
}

bool same(Site a, Site b) { return a.line == b.line && a.file == b.file; }

/// Of a group that forms at one place, for __activemask(): says who has come.
void converge(void* const* data, unsigned present) {
  for (unsigned rest = present; rest; rest &= rest - 1)
    *static_cast<unsigned*>(data[__builtin_ctz(rest)]) = present;
}

}  // namespace

__attribute__((always_inline)) inline void Worker::warp_rendezvous(unsigned mask,
                                                                   WarpCombine combine, void* data,
                                                                   const char* what, Site site) {
  const int lane = lane_, warp = lane / 32, position = lane % 32;
  if (!(mask >> position & 1))
    fault(cudaErrorLaunchFailure, std::string(what) + " at " + place(site) + ": the mask " +
                                      hex(mask) + " does not name the calling lane " +
                                      std::to_string(position));
  WarpGroup* group = nullptr;
  for (unsigned rest = open_[warp]; rest && !group; rest &= rest - 1) {
    WarpGroup& each = groups_[warp][__builtin_ctz(rest)];
    if (each.mask == mask && each.combine == combine &&
        (combine != converge || same(each.site, site)))
      group = &each;
  }
  if (!group) {
    const int slot = __builtin_ctz(~open_[warp]);
    open_[warp] |= 1u << slot;
    ++waiting_groups_;
    group = &groups_[warp][slot];
    group->mask = mask;
    group->arrived = 0;
    group->combine = combine;
    group->site = site;
    group->key = &warp_keys_[warp][warp_generation_[warp]++ % warp_keys_[warp].size()];
  }
  const void* key = group->key;
  isolation_.leave();
  group->data[position] = data;
  group->arrived |= 1u << position;
  order_release(key);
  if (group->arrived == (mask & live_[warp])) {
    complete(*group, warp);
    isolation_.enter(lane);
  } else {
    park({what, site, mask});
  }
  order_acquire(key);
}

void Worker::complete(WarpGroup& group, int warp) {
  order_acquire(group.key);
  if (group.combine) {
    // It runs on behalf of all lanes and may read what they point to.
    isolation_.meet_warp(warp);
    isolation_.enter(warp * 32);
    group.combine(group.data, group.arrived);
    isolation_.leave();
    order_release(group.key);
  }
  isolation_.meet_warp(warp);
  --waiting_groups_;
  open_[warp] &= ~(1u << (&group - groups_[warp].data()));
  for (unsigned rest = group.arrived; rest; rest &= rest - 1) {
    const int lane = warp * 32 + __builtin_ctz(rest);
    if (lane != lane_) wake(lane);
  }
}

bool Worker::release_converging() {
  for (int warp = 0; warp * 32 < threads_; ++warp)
    for (unsigned rest = open_[warp]; rest; rest &= rest - 1) {
      WarpGroup& group = groups_[warp][__builtin_ctz(rest)];
      if (group.combine != converge) continue;
      complete(group, warp);
      return true;
    }
  return false;
}

__attribute__((always_inline)) inline void Worker::block_rendezvous(BlockCombine combine,
                                                                    void* data, const char* what,
                                                                    Site site) {
  const int lane = lane_;
  const void* key = &block_keys_[block_generation_ % block_keys_.size()];
  if (barrier_.arrived == 0) {
    barrier_ = {0, combine, what, site};
  } else if (barrier_.combine != combine) {
    fault(cudaErrorLaunchFailure, std::string("divergent barrier: this thread is in ") + what +
                                      " at " + place(site) + " while others wait in " +
                                      barrier_.what + " at " + place(barrier_.site));
  } else if (!same(barrier_.site, site)) {
    divergent_barrier(*this, what, barrier_.site, site);
  }
  isolation_.leave();
  block_data_[lane] = data;
  block_waiting_[barrier_.arrived++] = static_cast<std::uint16_t>(lane);
  order_release(key);
  if (barrier_.arrived == static_cast<unsigned>(running_)) {
    complete_block();
    if (order_.last_waits) {
      park({what, site, 0});
    } else {
      isolation_.enter(lane);
    }
  } else {
    park({what, site, 0});
  }
  order_acquire(key);
}

void Worker::complete_block() {
  const void* key = &block_keys_[block_generation_++ % block_keys_.size()];
  const unsigned arrived = barrier_.arrived;
  barrier_.arrived = 0;
  if (barrier_.combine) {
    order_acquire(key);
    isolation_.meet_block();
    isolation_.enter(0);
    barrier_.combine(block_data_.data(), static_cast<unsigned>(threads_));
    isolation_.leave();
    order_release(key);
  }
  isolation_.meet_block();
  for (unsigned i = 0; i < arrived; ++i) {
    if (block_waiting_[i] != lane_ || order_.last_waits) wake(block_waiting_[i]);
  }
}

void warp_rendezvous(unsigned mask, WarpCombine combine, void* data, const char* what, Site site) {
  caller(what, site).warp_rendezvous(mask, combine, data, what, site);
}

void block_rendezvous(BlockCombine combine, void* data, const char* what, Site site) {
  caller(what, site).block_rendezvous(combine, data, what, site);
}

void grid_rendezvous(Site site) {
  Worker& worker = caller("grid.sync()", site);
  if (!worker.launch().cooperative)
    fault(cudaErrorLaunchFailure, "grid.sync() at " + place(site) +
                                      " in a kernel that was not launched " +
                                      "with cudaLaunchCooperativeKernel");
  worker.block_rendezvous(
      [](void* const*, unsigned) {
        Worker& worker = *Worker::active();
        if (worker.launch().grid_barrier.wait()) return;
        // A block that failed has told why; when it simply ended, this is the first to notice.
        if (worker.launch().error.load() != cudaSuccess) worker.abandon();
        fault(cudaErrorLaunchTimeout,
              "deadlock: grid.sync() waits for blocks that have already ended");
      },
      nullptr, "grid.sync()", site);
}

unsigned converged_lanes(Site site) {
  unsigned lanes = 0;
  caller("__activemask()", site).warp_rendezvous(~0u, converge, &lanes, "__activemask()", site);
  return lanes;
}

bool is_cooperative() {
  Worker* worker = Worker::active();
  return worker && worker->launch().cooperative;
}

bool in_kernel() {
  Worker* worker = Worker::active();
  return worker && worker->in_lane();
}

void yield() {
  if (Worker* worker = Worker::active(); worker && worker->in_lane()) worker->yield();
}

void meet_others() {
  if (Worker* worker = Worker::active(); worker && worker->in_lane()) worker->meet_others();
}

void may_spin() {
  static __thread unsigned count = 0;
  if (++count % 64 == 0) yield();
}

}  // namespace kb::cpu
