// Cooperative groups on the CPU: blocks, tiles up to a warp, coalesced groups and the grid.
#pragma once
#pragma GCC system_header

#include "cuda_runtime.h"
#include "cudacpu/collective.hpp"

KB_DEVICE_CODE_BEGIN
namespace cooperative_groups {

class thread_block {
 public:
  static void sync(KB_AT) {
    kb::cpu::block_rendezvous(nullptr, nullptr, "thread_block::sync()", site);
  }
  static unsigned thread_rank() { return kb::cpu::thread_rank(); }
  static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

class grid_group {
 public:
  static bool is_valid() { return kb::cpu::is_cooperative(); }
  static void sync(KB_AT) { kb::cpu::grid_rendezvous(site); }
  static unsigned long long block_rank() {
    return blockIdx.x + 1ull * gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  }
  static unsigned long long thread_rank() {
    return block_rank() * thread_block::size() + thread_block::thread_rank();
  }
  static unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
  static unsigned long long size() { return num_blocks() * thread_block::size(); }
  static unsigned long long num_threads() { return size(); }
  static dim3 group_dim() { return gridDim; }
  static dim3 dim_blocks() { return gridDim; }
};
inline grid_group this_grid() { return {}; }

/// Lanes of one warp, given by a mask; ranks count the set bits.
class lanes {
 public:
  explicit lanes(unsigned mask) : mask_(mask) {}
  void sync(KB_AT) const { __syncwarp(mask_, site); }
  unsigned mask() const { return mask_; }
  unsigned thread_rank() const { return __popc(mask_ & ((1u << kb::cpu::lane_id()) - 1)); }
  unsigned size() const { return __popc(mask_); }
  unsigned num_threads() const { return size(); }
  template <class T>
  T shfl(T value, unsigned rank, KB_AT) const {
    return exchange(value, rank % size(), "shfl()", site);
  }
  template <class T>
  T shfl_up(T value, unsigned delta, KB_AT) const {
    return exchange(value, thread_rank() - delta, "shfl_up()", site);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, KB_AT) const {
    return exchange(value, thread_rank() + delta, "shfl_down()", site);
  }
  template <class T>
  T shfl_xor(T value, unsigned other, KB_AT) const {
    return exchange(value, thread_rank() ^ other, "shfl_xor()", site);
  }
  int any(int predicate, KB_AT) const { return __any_sync(mask_, predicate, site); }
  int all(int predicate, KB_AT) const { return __all_sync(mask_, predicate, site); }
  unsigned ballot(int predicate, KB_AT) const {
    return pack(__ballot_sync(mask_, predicate, site));
  }
  template <class T>
  unsigned match_any(T value, KB_AT) const {
    return pack(__match_any_sync(mask_, value, site));
  }

 private:
  /// The value of the lane with that rank, or the caller's own if there is none.
  template <class T>
  T exchange(T value, unsigned rank, const char* what, kb::cpu::Site site) const {
    unsigned rest = mask_;
    for (unsigned i = rank < size() ? rank : thread_rank(); i > 0; --i) rest &= rest - 1;
    return kb::cpu::shuffle(mask_, value, __builtin_ctz(rest), what, site);
  }
  /// Moves the bits of the group's lanes together.
  unsigned pack(unsigned lanes) const {
    unsigned result = 0, position = 0;
    for (unsigned rest = mask_; rest; rest &= rest - 1, ++position)
      result |= (lanes >> __builtin_ctz(rest) & 1u) << position;
    return result;
  }
  unsigned mask_;
};

class coalesced_group : public lanes {
 public:
  using lanes::lanes;
};
inline coalesced_group coalesced_threads(KB_AT) { return coalesced_group(__activemask(site)); }

/// A tile without a parent type stands for tiles of any parent.
template <unsigned Size, class Parent = void>
class thread_block_tile : public lanes {
 public:
  static_assert(Size <= 32 && (Size & (Size - 1)) == 0,
                "the CPU backend has no tiles above a warp");
  thread_block_tile(unsigned index, unsigned count)
      : lanes(kb::cpu::tile_mask(Size)), index_(index), count_(count) {}
  template <class Other, class = std::enable_if_t<!std::is_same_v<Other, Parent>>,
            class = std::enable_if_t<std::is_void_v<Parent>, Other>>
  thread_block_tile(const thread_block_tile<Size, Other>& tile)
      : thread_block_tile(tile.meta_group_rank(), tile.meta_group_size()) {}
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  unsigned meta_group_rank() const { return index_; }
  unsigned meta_group_size() const { return count_; }

 private:
  unsigned index_, count_;
};

template <unsigned Size, class Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
  return {parent.thread_rank() / Size, (parent.size() + Size - 1) / Size};
}
inline lanes tiled_partition(const thread_block&, unsigned size) {
  return lanes(kb::cpu::tile_mask(size));
}

#define KB_GROUP_OPERATION(name, Operation) \
  template <class T>                        \
  struct name : kb::cpu::Operation {};
KB_GROUP_OPERATION(plus, Add)
KB_GROUP_OPERATION(less, Min)
KB_GROUP_OPERATION(greater, Max)
KB_GROUP_OPERATION(bit_and, And)
KB_GROUP_OPERATION(bit_or, Or)
KB_GROUP_OPERATION(bit_xor, Xor)

template <class T, class Operation>
T reduce(const lanes& group, T value, Operation operation, KB_AT) {
  return kb::cpu::across_lanes(group.mask(), value, operation, true, "reduce()", site).total;
}
#define KB_GROUP_SCAN(name, result)                                                                \
  template <class T, class Operation>                                                              \
  T name(const lanes& group, T value, Operation operation, KB_AT) {                                \
    return kb::cpu::across_lanes(group.mask(), value, operation, true, #name "()", site).result(); \
  }                                                                                                \
  template <class T>                                                                               \
  T name(const lanes& group, T value, KB_AT) {                                                     \
    return name(group, value, plus<T>(), site);                                                    \
  }
KB_GROUP_SCAN(inclusive_scan, inclusive)
KB_GROUP_SCAN(exclusive_scan, exclusive)

/// Copies at once: what is copied is complete before wait() on any schedule.
template <class Group, class T>
void memcpy_async(const Group& group, T* to, const T* from, size_t bytes) {
  char* target = reinterpret_cast<char*>(to);
  const char* source = reinterpret_cast<const char*>(from);
  for (size_t i = group.thread_rank(); i < bytes; i += group.size()) target[i] = source[i];
}
template <class Group>
void wait(const Group& group, KB_AT) {
  group.sync(site);
}
template <class Group>
void sync(const Group& group, KB_AT) {
  group.sync(site);
}

}  // namespace cooperative_groups
KB_DEVICE_CODE_END
