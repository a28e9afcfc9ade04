// Barriers, fences, shuffles, votes and warp reductions.
#pragma once
#pragma GCC system_header

#include <cstring>

#include "core.hpp"

#define KB_AT kb::cpu::Site site = kb::cpu::here()

inline void __syncthreads(KB_AT) {
  kb::cpu::block_rendezvous(nullptr, nullptr, "__syncthreads()", site);
}
inline void __syncwarp(unsigned mask = 0xffffffffu, KB_AT) {
  kb::cpu::warp_rendezvous(mask, nullptr, nullptr, "__syncwarp()", site);
}
// Fences order the OS threads that run different blocks; under TSan there is only one.
inline void __threadfence() {
#if !defined(__SANITIZE_THREAD__)
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
inline void __threadfence_block() { __threadfence(); }
inline void __threadfence_system() { __threadfence(); }
inline void __nanosleep(unsigned) { kb::cpu::yield(); }
inline unsigned __activemask(KB_AT) { return kb::cpu::converged_lanes(site); }
[[noreturn]] inline void __trap(KB_AT) { kb::cpu::trap("__trap()", site); }
inline void __brkpt() {}
inline void __prof_trigger(int) {}

namespace kb::cpu {

inline unsigned lane_id() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 31;
}

template <class Combine>
int block_count(int predicate, Combine, const char* what, Site site) {
  struct Record {
    int in, out;
  } record{predicate, 0};
  block_rendezvous(
      [](void* const* data, unsigned count) {
        int present = 0, set = 0;
        for (unsigned i = 0; i < count; ++i)
          if (data[i]) ++present, set += static_cast<Record*>(data[i])->in != 0;
        for (unsigned i = 0; i < count; ++i)
          if (data[i]) static_cast<Record*>(data[i])->out = Combine::apply(set, present);
      },
      &record, what, site);
  return record.out;
}

struct CountSet {
  static int apply(int set, int) { return set; }
};
struct AllSet {
  static int apply(int set, int present) { return set == present; }
};
struct AnySet {
  static int apply(int set, int) { return set != 0; }
};

/// Posts `in` and gives all lanes what `Combine::apply(records, present, lane)` says.
template <class Combine, class In, class Out>
Out warp_exchange(unsigned mask, In in, const char* what, Site site) {
  struct Record {
    In in;
    Out out;
  } record{in, Out{}};
  warp_rendezvous(
      mask,
      [](void* const* data, unsigned present) {
        auto input = [&](unsigned lane) -> const In& {
          return static_cast<Record*>(data[lane])->in;
        };
        for (unsigned rest = present; rest; rest &= rest - 1) {
          const unsigned lane = __builtin_ctz(rest);
          static_cast<Record*>(data[lane])->out =
              Combine::template apply<Out>(input, present, lane);
        }
      },
      &record, what, site);
  return record.out;
}

/// The same when the answer does not depend on the lane: computed once.
template <class Combine, class In, class Out>
Out warp_agree(unsigned mask, In in, const char* what, Site site) {
  struct Record {
    In in;
    Out out;
  } record{in, Out{}};
  warp_rendezvous(
      mask,
      [](void* const* data, unsigned present) {
        auto input = [&](unsigned lane) -> const In& {
          return static_cast<Record*>(data[lane])->in;
        };
        const Out out = Combine::template apply<Out>(input, present);
        for (unsigned rest = present; rest; rest &= rest - 1)
          static_cast<Record*>(data[__builtin_ctz(rest)])->out = out;
      },
      &record, what, site);
  return record.out;
}

template <class T>
T shuffle(unsigned mask, const T& value, unsigned source, const char* what, Site site) {
  static_assert(std::is_trivially_copyable_v<T>, "shuffles move plain data");
  struct Record {
    T in, out;
    unsigned source;
    bool absent;
  } record{value, value, source, false};
  warp_rendezvous(
      mask,
      [](void* const* data, unsigned present) {
        for (unsigned rest = present; rest; rest &= rest - 1) {
          auto& mine = *static_cast<Record*>(data[__builtin_ctz(rest)]);
          if (present >> mine.source & 1) {
            mine.out = static_cast<Record*>(data[mine.source])->in;
          } else {
            std::memset(static_cast<void*>(&mine.out), 0xff, sizeof(T));
            mine.absent = true;
          }
        }
      },
      &record, what, site);
  if (record.absent) warn_absent_source(record.source, what, site);
  return record.out;
}

}  // namespace kb::cpu

inline int __syncthreads_count(int predicate, KB_AT) {
  return kb::cpu::block_count(predicate, kb::cpu::CountSet{}, "__syncthreads_count()", site);
}
inline int __syncthreads_and(int predicate, KB_AT) {
  return kb::cpu::block_count(predicate, kb::cpu::AllSet{}, "__syncthreads_and()", site);
}
inline int __syncthreads_or(int predicate, KB_AT) {
  return kb::cpu::block_count(predicate, kb::cpu::AnySet{}, "__syncthreads_or()", site);
}

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, KB_AT) {
  const unsigned lane = kb::cpu::lane_id(), base = lane & ~(width - 1u);
  return kb::cpu::shuffle(mask, value, base | (source & (width - 1)), "__shfl_sync()", site);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, KB_AT) {
  const unsigned lane = kb::cpu::lane_id(), base = lane & ~(width - 1u);
  const unsigned source = lane - base >= delta ? lane - delta : lane;
  return kb::cpu::shuffle(mask, value, source, "__shfl_up_sync()", site);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, KB_AT) {
  const unsigned lane = kb::cpu::lane_id(), base = lane & ~(width - 1u);
  const unsigned source = lane + delta < base + width ? lane + delta : lane;
  return kb::cpu::shuffle(mask, value, source, "__shfl_down_sync()", site);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, KB_AT) {
  const unsigned lane = kb::cpu::lane_id(), end = (lane & ~(width - 1u)) + width;
  const unsigned source = lane ^ static_cast<unsigned>(lane_mask);
  return kb::cpu::shuffle(mask, value, source < end ? source : lane, "__shfl_xor_sync()", site);
}

namespace kb::cpu {

struct Ballot {
  template <class Out, class Input>
  static Out apply(Input input, unsigned present) {
    unsigned set = 0;
    for (unsigned rest = present; rest; rest &= rest - 1) {
      const unsigned lane = __builtin_ctz(rest);
      if (input(lane)) set |= 1u << lane;
    }
    return set;
  }
};
struct All {
  template <class Out, class Input>
  static Out apply(Input input, unsigned present) {
    return Ballot::apply<unsigned>(input, present) == present;
  }
};
struct Any {
  template <class Out, class Input>
  static Out apply(Input input, unsigned present) {
    return Ballot::apply<unsigned>(input, present) != 0;
  }
};
struct MatchAny {
  template <class Out, class Input>
  static Out apply(Input input, unsigned present, unsigned lane) {
    unsigned same = 0;
    for (unsigned rest = present; rest; rest &= rest - 1) {
      const unsigned other = __builtin_ctz(rest);
      if (input(other) == input(lane)) same |= 1u << other;
    }
    return same;
  }
};
struct MatchAll {
  template <class Out, class Input>
  static Out apply(Input input, unsigned present) {
    const unsigned first = __builtin_ctz(present);
    return MatchAny::apply<unsigned>(input, present, first) == present ? present : 0;
  }
};
template <class Operation>
struct Fold {
  template <class Out, class Input>
  static Out apply(Input input, unsigned present) {
    Out sum = input(__builtin_ctz(present));
    for (unsigned rest = present & (present - 1); rest; rest &= rest - 1)
      sum = Operation()(sum, input(__builtin_ctz(rest)));
    return sum;
  }
};
#define KB_OPERATION(name, expression) \
  struct name {                        \
    template <class T>                 \
    T operator()(T a, T b) const {     \
      return expression;               \
    }                                  \
  };
KB_OPERATION(Add, a + b)
KB_OPERATION(Min, b < a ? b : a)
KB_OPERATION(Max, a < b ? b : a)
KB_OPERATION(And, a& b)
KB_OPERATION(Or, a | b)
KB_OPERATION(Xor, a ^ b)
#undef KB_OPERATION

}  // namespace kb::cpu

inline unsigned __ballot_sync(unsigned mask, int predicate, KB_AT) {
  return kb::cpu::warp_agree<kb::cpu::Ballot, int, unsigned>(mask, predicate, "__ballot_sync()",
                                                             site);
}
inline int __all_sync(unsigned mask, int predicate, KB_AT) {
  return kb::cpu::warp_agree<kb::cpu::All, int, int>(mask, predicate, "__all_sync()", site);
}
inline int __any_sync(unsigned mask, int predicate, KB_AT) {
  return kb::cpu::warp_agree<kb::cpu::Any, int, int>(mask, predicate, "__any_sync()", site);
}
template <class T>
unsigned __match_any_sync(unsigned mask, T value, KB_AT) {
  return kb::cpu::warp_exchange<kb::cpu::MatchAny, T, unsigned>(mask, value, "__match_any_sync()",
                                                                site);
}
template <class T>
unsigned __match_all_sync(unsigned mask, T value, int* all_equal, KB_AT) {
  const unsigned same =
      kb::cpu::warp_agree<kb::cpu::MatchAll, T, unsigned>(mask, value, "__match_all_sync()", site);
  *all_equal = same != 0;
  return same;
}

#define KB_WARP_REDUCE(name, Operation, T)                               \
  inline T __reduce_##name##_sync(unsigned mask, T value, KB_AT) {       \
    return kb::cpu::warp_agree<kb::cpu::Fold<kb::cpu::Operation>, T, T>( \
        mask, value, "__reduce_" #name "_sync()", site);                 \
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
#undef KB_WARP_REDUCE
