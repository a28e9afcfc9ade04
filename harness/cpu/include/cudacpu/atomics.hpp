// Atomic functions as atomics of the CPU, and cached loads and stores as plain ones.
#pragma once
#pragma GCC system_header

#include <cstring>

#include "core.hpp"

// CUDA's atomics are relaxed and programs order them with fences. ThreadSanitizer does not know
// fences, so here the atomics themselves order; it costs nothing on x86.
#define KB_ATOMIC_ORDER __ATOMIC_ACQ_REL

namespace kb::cpu {

/// Lets the pointer alone decide the type of an atomic.
template <class T>
using Same = std::enable_if_t<true, T>;

/// The unsigned integer with the size of T.
template <class T>
using Word = std::conditional_t<sizeof(T) == 2, unsigned short,
                                std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>>;

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
  meet_others();
  auto* word = reinterpret_cast<Word<T>*>(address);
  Word<T> old = __atomic_load_n(word, __ATOMIC_RELAXED), updated;
  do {
    updated = bits<Word<T>>(T(update(bits<T>(old))));
  } while (
      !__atomic_compare_exchange_n(word, &old, updated, true, KB_ATOMIC_ORDER, __ATOMIC_ACQUIRE));
  if (updated == old) may_spin();
  return bits<T>(old);
}

}  // namespace kb::cpu

// Each of them for a block, the device and the system: all the same here.
#define KB_SCOPES(KB_ATOMIC, name, ...) \
  KB_ATOMIC(name, __VA_ARGS__)          \
  KB_ATOMIC(name##_block, __VA_ARGS__) KB_ATOMIC(name##_system, __VA_ARGS__)
#define KB_UPDATE(name, allowed, update)                                          \
  template <class T>                                                              \
  T name(T* address, kb::cpu::Same<T> value) {                                    \
    static_assert(allowed, "CUDA has no " #name " for this type");                \
    return kb::cpu::atomic_update(address, [value](T old) { return T(update); }); \
  }
#define KB_INTEGER_UPDATE(name, update) KB_UPDATE(name, std::is_integral_v<T>, update)
#define KB_COMPARE_AND_SWAP(name, ...)                                                     \
  template <class T>                                                                       \
  T name(T* address, kb::cpu::Same<T> expected, kb::cpu::Same<T> desired) {                \
    using Word = kb::cpu::Word<T>;                                                         \
    kb::cpu::meet_others();                                                                \
    Word old = kb::cpu::bits<Word>(expected);                                              \
    if (!__atomic_compare_exchange_n(reinterpret_cast<Word*>(address), &old,               \
                                     kb::cpu::bits<Word>(desired), false, KB_ATOMIC_ORDER, \
                                     __ATOMIC_ACQUIRE))                                    \
      kb::cpu::yield(); /* whoever holds the lock may be another thread of this block */   \
    return kb::cpu::bits<T>(old);                                                          \
  }
KB_SCOPES(KB_UPDATE, atomicAdd, true, old + value)
KB_SCOPES(KB_INTEGER_UPDATE, atomicSub, old - value)
KB_SCOPES(KB_UPDATE, atomicExch, true, value)
KB_SCOPES(KB_INTEGER_UPDATE, atomicMin, value < old ? value : old)
KB_SCOPES(KB_INTEGER_UPDATE, atomicMax, old < value ? value : old)
KB_SCOPES(KB_INTEGER_UPDATE, atomicAnd, old& value)
KB_SCOPES(KB_INTEGER_UPDATE, atomicOr, old | value)
KB_SCOPES(KB_INTEGER_UPDATE, atomicXor, old ^ value)
KB_SCOPES(KB_INTEGER_UPDATE, atomicInc, old >= value ? 0 : old + 1)
KB_SCOPES(KB_INTEGER_UPDATE, atomicDec, old == 0 || old > value ? value : old - 1)
KB_SCOPES(KB_COMPARE_AND_SWAP, atomicCAS)

#define KB_LOAD(name)        \
  template <class T>         \
  T name(const T* address) { \
    return *address;         \
  }
KB_LOAD(__ldg)
KB_LOAD(__ldca)
KB_LOAD(__ldcg)
KB_LOAD(__ldcs)
KB_LOAD(__ldlu)
template <class T>
T __ldcv(const T* address) {
  kb::cpu::may_spin();
  return *address;
}
#define KB_STORE(name)                            \
  template <class T>                              \
  void name(T* address, kb::cpu::Same<T> value) { \
    *address = value;                             \
  }
KB_STORE(__stwb)
KB_STORE(__stcg)
KB_STORE(__stcs)
KB_STORE(__stwt)
