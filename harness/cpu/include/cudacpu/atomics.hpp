// Atomic functions as atomics of the CPU, and cached loads and stores as plain ones.
#pragma once
#pragma GCC system_header

#include <cstring>

#include "core.hpp"

// CUDA's atomics are relaxed and programs order them with fences. ThreadSanitizer does not know
// fences, so here the atomics themselves order; it costs nothing on x86.
#define KB_ATOMIC_ORDER __ATOMIC_ACQ_REL

namespace kb::cpu {

template <class T>
struct Identity {
  using type = T;
};
/// Lets the pointer alone decide the type of an atomic.
template <class T>
using Same = typename Identity<T>::type;

template <std::size_t bytes>
struct Bits;
template <>
struct Bits<2> {
  using type = unsigned short;
};
template <>
struct Bits<4> {
  using type = unsigned int;
};
template <>
struct Bits<8> {
  using type = unsigned long long;
};

template <class To, class From>
To bits(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(static_cast<void*>(&to), &from, sizeof to);
  return to;
}

/// *address = update(*address) as one step; returns the old value.
template <class T, class Update>
T atomic_update(T* address, Update update) {
  using Word = typename Bits<sizeof(T)>::type;
  auto* word = reinterpret_cast<Word*>(address);
  Word old = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(word, &old, bits<Word>(T(update(bits<T>(old)))), true,
                                      KB_ATOMIC_ORDER, __ATOMIC_ACQUIRE)) {
  }
  return bits<T>(old);
}

}  // namespace kb::cpu

template <class T>
T atomicAdd(T* address, kb::cpu::Same<T> value) {
  if constexpr (std::is_integral_v<T>)
    return __atomic_fetch_add(address, value, KB_ATOMIC_ORDER);
  else
    return kb::cpu::atomic_update(address, [value](T old) { return old + value; });
}
template <class T>
T atomicSub(T* address, kb::cpu::Same<T> value) {
  return __atomic_fetch_sub(address, value, KB_ATOMIC_ORDER);
}
template <class T>
T atomicExch(T* address, kb::cpu::Same<T> value) {
  return kb::cpu::atomic_update(address, [value](T) { return value; });
}
template <class T>
T atomicMin(T* address, kb::cpu::Same<T> value) {
  return kb::cpu::atomic_update(address, [value](T old) { return value < old ? value : old; });
}
template <class T>
T atomicMax(T* address, kb::cpu::Same<T> value) {
  return kb::cpu::atomic_update(address, [value](T old) { return old < value ? value : old; });
}
template <class T>
T atomicAnd(T* address, kb::cpu::Same<T> value) {
  return __atomic_fetch_and(address, value, KB_ATOMIC_ORDER);
}
template <class T>
T atomicOr(T* address, kb::cpu::Same<T> value) {
  return __atomic_fetch_or(address, value, KB_ATOMIC_ORDER);
}
template <class T>
T atomicXor(T* address, kb::cpu::Same<T> value) {
  return __atomic_fetch_xor(address, value, KB_ATOMIC_ORDER);
}
inline unsigned atomicInc(unsigned* address, unsigned limit) {
  return kb::cpu::atomic_update(address,
                                [limit](unsigned old) { return old >= limit ? 0 : old + 1; });
}
inline unsigned atomicDec(unsigned* address, unsigned limit) {
  return kb::cpu::atomic_update(
      address, [limit](unsigned old) { return old == 0 || old > limit ? limit : old - 1; });
}
template <class T>
T atomicCAS(T* address, kb::cpu::Same<T> expected, kb::cpu::Same<T> desired) {
  using Word = typename kb::cpu::Bits<sizeof(T)>::type;
  Word old = kb::cpu::bits<Word>(expected);
  if (!__atomic_compare_exchange_n(reinterpret_cast<Word*>(address), &old,
                                   kb::cpu::bits<Word>(desired), false, KB_ATOMIC_ORDER,
                                   __ATOMIC_ACQUIRE))
    kb::cpu::yield();  // whoever holds the lock may be another thread of this block
  return kb::cpu::bits<T>(old);
}

#define KB_SCOPED_ATOMIC(name)                          \
  template <class T>                                    \
  T name##_block(T* address, kb::cpu::Same<T> value) {  \
    return name(address, value);                        \
  }                                                     \
  template <class T>                                    \
  T name##_system(T* address, kb::cpu::Same<T> value) { \
    return name(address, value);                        \
  }
KB_SCOPED_ATOMIC(atomicAdd)
KB_SCOPED_ATOMIC(atomicSub)
KB_SCOPED_ATOMIC(atomicExch)
KB_SCOPED_ATOMIC(atomicMin)
KB_SCOPED_ATOMIC(atomicMax)
KB_SCOPED_ATOMIC(atomicAnd)
KB_SCOPED_ATOMIC(atomicOr)
KB_SCOPED_ATOMIC(atomicXor)
#undef KB_SCOPED_ATOMIC
template <class T>
T atomicCAS_block(T* address, kb::cpu::Same<T> expected, kb::cpu::Same<T> desired) {
  return atomicCAS(address, expected, desired);
}
template <class T>
T atomicCAS_system(T* address, kb::cpu::Same<T> expected, kb::cpu::Same<T> desired) {
  return atomicCAS(address, expected, desired);
}

#define KB_LOAD(name)        \
  template <class T>         \
  T name(const T* address) { \
    return *address;         \
  }
KB_LOAD(__ldg)
KB_LOAD(__ldca)
KB_LOAD(__ldcg)
KB_LOAD(__ldcs)
KB_LOAD(__ldcv)
KB_LOAD(__ldlu)
#undef KB_LOAD
#define KB_STORE(name)                            \
  template <class T>                              \
  void name(T* address, kb::cpu::Same<T> value) { \
    *address = value;                             \
  }
KB_STORE(__stwb)
KB_STORE(__stcg)
KB_STORE(__stcs)
KB_STORE(__stwt)
#undef KB_STORE
