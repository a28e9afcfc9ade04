// Force-included into every candidate: exports task::launch (and task::prepare) under C names.
#pragma once

#if defined(KB_CONTRACT_FP16)
#include <cuda_fp16.h>
#elif defined(KB_CONTRACT_BF16)
#include <cuda_bf16.h>
#endif

#include <type_traits>
#include <utility>

#include "task.h"

namespace task {
struct NoPrepare;
// Makes the name exist for tasks without weights; its signature never matches a real prepare().
inline void prepare(NoPrepare*) {}
}  // namespace task

namespace kb::entry {

// One argument of launch() out of the runner's table of pointers.
template <class T>
struct Arg {
  static_assert(std::is_pointer_v<T>, "tensors are passed as pointers");
  static T get(void* p) { return static_cast<T>(p); }
};
template <class T>
struct Arg<const T&> {
  static const T& get(void* p) { return *static_cast<const T*>(p); }
};

template <class... A, size_t... I>
void apply(void (*function)(A...), void* const* args, std::index_sequence<I...>) {
  function(Arg<A>::get(args[I])...);
}

template <class... A>
int call(void (*function)(const task::Sizes&, A...), void* const* args) {
  if (function == nullptr) return 0;
  apply(function, args, std::make_index_sequence<1 + sizeof...(A)>{});
  return 1;
}
inline int call(...) { return 0; }

}  // namespace kb::entry

/// Calls task::launch. `args`: the Sizes, one pointer per tensor (or kb::Weights), the stream.
extern "C" __attribute__((visibility("default"))) int kb_launch(void* const* args) {
  return kb::entry::call(&task::launch, args);
}

/// Calls task::prepare if the candidate defines it (returns 1), else does nothing (returns 0).
extern "C" __attribute__((visibility("default"))) int kb_prepare(void* const* args) {
  return kb::entry::call(&task::prepare, args);
}
