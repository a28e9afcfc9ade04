// Barriers, fences, shuffles, votes and warp reductions.
#pragma once
#pragma GCC system_header

#include <cstring>

#include "core.hpp"

inline void __syncthreads(KB_AT) {
  kb::cpu::block_rendezvous(nullptr, nullptr, "__syncthreads()", site);
}
inline void __syncwarp(unsigned mask = 0xffffffffu, KB_AT) {
  kb::cpu::warp_rendezvous(mask, nullptr, nullptr, "__syncwarp()", site);
}
// Fences order the OS threads that run different blocks; under TSan there is only one. The threads
// of a block meet.
inline void __threadfence() {
#if !defined(__SANITIZE_THREAD__)
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
  kb::cpu::meet_others();
}
inline void __threadfence_block() { __threadfence(); }
inline void __threadfence_system() { __threadfence(); }
inline void __nanosleep(unsigned) { kb::cpu::yield(); }
inline unsigned __activemask(KB_AT) { return kb::cpu::converged_lanes(site); }
[[noreturn]] inline void __trap(KB_AT) { kb::cpu::trap("__trap()", site); }
[[noreturn]] inline void __brkpt(KB_AT) { kb::cpu::trap("__brkpt()", site); }
inline void __prof_trigger(int) {}

namespace kb::cpu {

inline unsigned thread_rank() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
inline unsigned lane_id() { return thread_rank() & 31; }

template <class In, class Out>
struct Record {
  In in;
  Out out;
};

/// Posts `in` and gives all lanes of `mask` what `Combine` says: f(input, present), where
/// input(lane) is what a present lane has posted.
template <class Out, class In, class Combine>
Out warp_agree(unsigned mask, In in, Combine, const char* what, Site site) {
  Record<In, Out> record{in, Out{}};
  warp_rendezvous(
      mask,
      [](void* const* data, unsigned present) {
        auto record = [&](unsigned lane) { return static_cast<Record<In, Out>*>(data[lane]); };
        auto input = [&](unsigned lane) -> const In& { return record(lane)->in; };
        const Out out = Combine()(input, present);
        for (unsigned rest = present; rest; rest &= rest - 1)
          record(__builtin_ctz(rest))->out = out;
      },
      &record, what, site);
  return record.out;
}

/// The lanes whose input is `value`.
template <class Input, class T>
unsigned lanes_with(Input input, unsigned present, const T& value) {
  unsigned same = 0;
  for (unsigned rest = present; rest; rest &= rest - 1) {
    const unsigned lane = __builtin_ctz(rest);
    if (input(lane) == value) same |= 1u << lane;
  }
  return same;
}
struct Ballot {
  template <class Input>
  unsigned operator()(Input input, unsigned present) const {
    return lanes_with(input, present, true);
  }
};
/// For each lane, the lanes with the same input.
struct Matches {
  unsigned lanes[32];
};
struct Match {
  template <class Input>
  Matches operator()(Input input, unsigned present) const {
    Matches matches{};
    for (unsigned rest = present; rest; rest &= rest - 1) {
      const unsigned lane = __builtin_ctz(rest);
      matches.lanes[lane] = lanes_with(input, present, input(lane));
    }
    return matches;
  }
};
struct MatchAll {
  template <class Input>
  unsigned operator()(Input input, unsigned present) const {
    const unsigned first = __builtin_ctz(present);
    return lanes_with(input, present, input(first)) == present ? present : 0;
  }
};
template <class Operation>
struct Fold {
  template <class Input>
  auto operator()(Input input, unsigned present) const {
    auto sum = input(__builtin_ctz(present));
    for (unsigned rest = present & (present - 1); rest; rest &= rest - 1)
      sum = Operation()(sum, input(__builtin_ctz(rest)));
    return sum;
  }
};
#define KB_OPERATION(name, expression)           \
  struct name {                                  \
    template <class T>                           \
    T operator()(const T& a, const T& b) const { \
      return expression;                         \
    }                                            \
  };
KB_OPERATION(Add, a + b)
KB_OPERATION(Min, b < a ? b : a)
KB_OPERATION(Max, a < b ? b : a)
KB_OPERATION(And, a& b)
KB_OPERATION(Or, a | b)
KB_OPERATION(Xor, a ^ b)

template <class T>
T shuffle(unsigned mask, const T& value, unsigned source, const char* what, Site site) {
  static_assert(std::is_trivially_copyable_v<T>, "shuffles move plain data");
  struct Move {
    T in, out;
    unsigned source;
    bool absent;
  } move{value, value, source, false};
  warp_rendezvous(
      mask,
      [](void* const* data, unsigned present) {
        for (unsigned rest = present; rest; rest &= rest - 1) {
          auto& mine = *static_cast<Move*>(data[__builtin_ctz(rest)]);
          mine.absent = !(present >> mine.source & 1);
          if (mine.absent)
            std::memset(static_cast<void*>(&mine.out), 0xff, sizeof(T));
          else
            mine.out = static_cast<Move*>(data[mine.source])->in;
        }
      },
      &move, what, site);
  if (move.absent) warn_absent_source(move.source, what, site);
  return move.out;
}

/// How many threads of the block there are, and how many of them have set the predicate.
struct Count {
  int present, set;
};
inline Count block_count(int predicate, const char* what, Site site) {
  Record<bool, Count> record{predicate != 0, {}};
  block_rendezvous(
      [](void* const* data, unsigned count) {
        auto record = [&](unsigned i) { return static_cast<Record<bool, Count>*>(data[i]); };
        Count sum{};
        for (unsigned i = 0; i < count; ++i)
          if (record(i)) ++sum.present, sum.set += record(i)->in;
        for (unsigned i = 0; i < count; ++i)
          if (record(i)) record(i)->out = sum;
      },
      &record, what, site);
  return record.out;
}

}  // namespace kb::cpu

inline int __syncthreads_count(int predicate, KB_AT) {
  return kb::cpu::block_count(predicate, "__syncthreads_count()", site).set;
}
inline int __syncthreads_and(int predicate, KB_AT) {
  const auto count = kb::cpu::block_count(predicate, "__syncthreads_and()", site);
  return count.set == count.present;
}
inline int __syncthreads_or(int predicate, KB_AT) {
  return kb::cpu::block_count(predicate, "__syncthreads_or()", site).set != 0;
}

// `source` is given the lane and the first and last lane but one of its part of the warp.
#define KB_SHUFFLE(name, Parameter, inside, source)                                            \
  template <class T>                                                                           \
  T name(unsigned mask, T value, Parameter by, int width = 32, KB_AT) {                        \
    const unsigned lane = kb::cpu::lane_id(), base = lane & ~(width - 1u), end = base + width; \
    return kb::cpu::shuffle(mask, value, (inside) ? (source) : lane, #name "()", site);        \
  }
KB_SHUFFLE(__shfl_sync, int, end > 0, base | (by & (width - 1)))
KB_SHUFFLE(__shfl_up_sync, unsigned, lane - base >= by, lane - by)
KB_SHUFFLE(__shfl_down_sync, unsigned, lane + by < end, lane + by)
KB_SHUFFLE(__shfl_xor_sync, int, (lane ^ by) < end, lane ^ by)

namespace kb::cpu {
inline unsigned ballot(unsigned mask, bool predicate, const char* what, Site site) {
  return warp_agree<unsigned>(mask, predicate, Ballot(), what, site);
}
}  // namespace kb::cpu
inline unsigned __ballot_sync(unsigned mask, int predicate, KB_AT) {
  return kb::cpu::ballot(mask, predicate != 0, "__ballot_sync()", site);
}
inline int __all_sync(unsigned mask, int predicate, KB_AT) {
  return kb::cpu::ballot(mask, predicate == 0, "__all_sync()", site) == 0;
}
inline int __any_sync(unsigned mask, int predicate, KB_AT) {
  return kb::cpu::ballot(mask, predicate != 0, "__any_sync()", site) != 0;
}
namespace kb::cpu {
/// What a match compares: of floating-point numbers the bits, so a NaN matches itself.
template <class T>
auto match_key(T value) {
  if constexpr (std::is_same_v<T, float>)
    return bits<unsigned>(value);
  else if constexpr (std::is_same_v<T, double>)
    return bits<unsigned long long>(value);
  else
    return value;
}
}  // namespace kb::cpu
template <class T>
unsigned __match_any_sync(unsigned mask, T value, KB_AT) {
  return kb::cpu::warp_agree<kb::cpu::Matches>(mask, kb::cpu::match_key(value), kb::cpu::Match(),
                                               "__match_any_sync()", site)
      .lanes[kb::cpu::lane_id()];
}
template <class T>
unsigned __match_all_sync(unsigned mask, T value, int* all_equal, KB_AT) {
  const unsigned same = kb::cpu::warp_agree<unsigned>(
      mask, kb::cpu::match_key(value), kb::cpu::MatchAll(), "__match_all_sync()", site);
  *all_equal = same != 0;
  return same;
}

#define KB_WARP_REDUCE(name, Operation, T)                                          \
  inline T __reduce_##name##_sync(unsigned mask, T value, KB_AT) {                  \
    return kb::cpu::warp_agree<T>(mask, value, kb::cpu::Fold<kb::cpu::Operation>(), \
                                  "__reduce_" #name "_sync()", site);               \
  }
KB_WARP_REDUCE(add, Add, unsigned)
KB_WARP_REDUCE(add, Add, int)
KB_WARP_REDUCE(min, Min, unsigned)
KB_WARP_REDUCE(min, Min, int)
KB_WARP_REDUCE(max, Max, unsigned)
KB_WARP_REDUCE(max, Max, int)
KB_WARP_REDUCE(and, And, unsigned)
KB_WARP_REDUCE(or, Or, unsigned)
KB_WARP_REDUCE(xor, Xor, unsigned)
