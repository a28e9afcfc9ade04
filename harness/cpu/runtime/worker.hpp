// One OS thread's machine for running the blocks of a launch: its lanes, fibers, shared memory and
// the groups of lanes that wait for each other.
#pragma once

#include <cudacpu/core.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "fiber.hpp"
#include "isolation.hpp"
#include "launch.hpp"
#include "shared_memory.hpp"

namespace kb::cpu {

inline constexpr int max_block = 1024, warps_per_block = max_block / 32;

/// What a waiting CUDA thread waits for.
struct Wait {
  const char* what = nullptr;  ///< null: not waiting
  Site site{};
  unsigned mask = 0;  ///< 0 for block-wide operations

  bool same_as(const Wait& other) const;
};

/// Lanes of one warp that wait for the same operation.
struct WarpGroup {
  unsigned mask = 0;  ///< as given by the program
  unsigned arrived = 0;
  WarpCombine combine = nullptr;
  Site site{};
  const void* key = nullptr;  ///< for ThreadSanitizer
  void* data[32];
};

/// Lanes of the block that wait in a barrier.
struct BlockGroup {
  unsigned arrived = 0;
  BlockCombine combine = nullptr;
  const char* what = nullptr;
  Site site{};
};

class Worker;
/// The calling OS thread's worker while it runs a kernel.
extern
    __attribute__((visibility("hidden"), tls_model("initial-exec"))) __thread Worker* active_worker;

class Worker {
 public:
  Worker();
  Worker(const Worker&) = delete;  // fibers point back to their worker

  /// Runs blocks of `launch` until none is left or it has failed.
  void run(Launch& launch);
  /// Runs those that are isolated, while nobody else runs any.
  void run_isolated(Launch& launch);

  /// The calling OS thread's worker, made on first use and never destroyed: parked fibers may
  /// still hold frames.
  static Worker& mine();
  /// The calling OS thread's worker while it runs a kernel, else null.
  static Worker* active() { return active_worker; }

  void warp_rendezvous(unsigned mask, WarpCombine combine, void* data, const char* what, Site site);
  void block_rendezvous(BlockCombine combine, void* data, const char* what, Site site);
  void yield();
  /// The calling thread sees what others have written, and they see what it has.
  void meet_others();
  /// Leaves the current block for good; the launch must have been marked as failed.
  [[noreturn]] void abandon();

  bool in_lane() const { return lane_ >= 0; }
  Launch& launch() { return *launch_; }
  SharedMemory& shared() { return shared_; }
  Fiber& fiber() { return *current_; }
  /// "kernel k (f.cu:12), block (0,0,0), thread (3,0,0)"
  std::string where() const;

 private:
  void begin_launch(Launch& launch);
  void end_launch();
  bool failed() const;
  void run_block(std::uint64_t number);
  void forget_block();
  void start_lane(int lane);
  void finish_lane();
  void lane_loop();
  int next_unstarted();
  int next_ready();
  void park(const Wait& wait, bool fresh_first = false);
  void wake(int lane);
  void queue_up(int lane);
  void complete(WarpGroup& group, int warp);
  void complete_block();
  /// When nothing else can run: lets the lanes go that wait in __activemask() for more.
  bool release_converging();
  [[noreturn]] void deadlock();
  void prepare_threads();
  Fiber& fiber_for(int lane);
  void make_fiber();
  void switch_to(Fiber& to);

  Launch* launch_ = nullptr;
  Kernel* kernel_ = nullptr;
  ThreadOrder order_;
  int ordered_ = 0;          ///< threads that order_ is for; 0: none
  std::uint64_t block_ = 0;  ///< its number in the grid
  int threads_ = 0;
  dim3 shape_{0, 0, 0};
  int lane_ = -1;
  int started_ = 0, tried_ = 0;  ///< lanes, and turns that have been looked at for them
  int running_ = 0;  ///< lanes of the block that have not exited, unstarted ones included
  bool abandoned_ = false;

  std::array<uint3, max_block> index_{};
  std::array<Fiber*, max_block> home_{};  ///< fiber of each started lane
  std::array<Wait, max_block> waits_{};
  std::array<void*, max_block> block_data_{};
  std::array<std::uint16_t, max_block> block_waiting_{};
  /// A queue of lanes that can go on; with a warp ahead, of those that have nothing better to do.
  std::array<std::uint16_t, max_block> ready_{};
  unsigned ready_head_ = 0, ready_tail_ = 0;
  /// With a warp ahead: the others that can go on, by turn, and the turns that have some.
  std::array<unsigned, warps_per_block> ready_lanes_{};
  unsigned ready_turns_ = 0;
  std::array<unsigned, warps_per_block> live_{};
  /// A warp has at most one open group per lane; those with no lane are free.
  std::array<std::array<WarpGroup, 32>, warps_per_block> groups_;
  std::array<unsigned, warps_per_block> open_{};  ///< which of a warp's groups have lanes
  int waiting_groups_ = 0;
  BlockGroup barrier_;
  // ThreadSanitizer's keys. Consecutive barriers use different ones: a thread that leaves late must
  // not be ordered behind what others did on their way to the next barrier.
  std::array<char, 2> block_keys_{};
  unsigned block_generation_ = 0;
  std::array<std::array<char, 4>, warps_per_block> warp_keys_{};
  std::array<unsigned, warps_per_block> warp_generation_{};

  Fiber hub_;
  Fiber* current_ = &hub_;
  std::vector<Fiber*> fibers_, idle_;
  char* stacks_;
  SharedMemory shared_;
  Isolation isolation_{shared_};
};

}  // namespace kb::cpu
