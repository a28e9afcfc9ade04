// The calls that cu2cpp generates and the device intrinsics build on: kernels, launches, shared
// memory and the one synchronisation primitive.
#pragma once
#pragma GCC system_header

#include <new>
#include <type_traits>
#include <utility>

#include "types.hpp"

struct CUstream_st;
struct CUevent_st;
typedef CUstream_st* cudaStream_t;
typedef CUevent_st* cudaEvent_t;

#if defined(__CUDA__)
extern __device__ const uint3 threadIdx;
extern __device__ const uint3 blockIdx;
extern __device__ const dim3 blockDim;
extern __device__ const dim3 gridDim;
extern __device__ const int warpSize;  // for nvcc no constant expression
// What clang turns <<<...>>> into.
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared = 0,
                                                cudaStream_t stream = nullptr);
#else
// Constant as long as one CUDA thread runs; the scheduler changes them between threads. The
// initial-exec model keeps an access at two instructions and is safe in dlopen'ed modules because
// the definitions live in a library that is loaded at program start.
#define KB_CPU_BUILTIN(type, name)                         \
  extern const __thread type name __asm__("kb_cpu_" #name) \
      __attribute__((tls_model("initial-exec")))
KB_CPU_BUILTIN(uint3, threadIdx);
KB_CPU_BUILTIN(uint3, blockIdx);
KB_CPU_BUILTIN(dim3, blockDim);
KB_CPU_BUILTIN(dim3, gridDim);
inline constexpr int warpSize = 32;
#endif

#pragma GCC visibility push(default)
namespace kb::cpu {

/// A place in a source file.
struct Site {
  const char* file;
  int line;
};

/// As a default argument: the place of the call that uses the default.
KB_DEVICE_FUNCTION constexpr Site here(const char* file = __builtin_FILE(),
                                       int line = __builtin_LINE()) {
  return {file, line};
}
#define KB_AT kb::cpu::Site site = kb::cpu::here()

/// One per kernel instantiation, static in the module that holds the kernel.
struct Kernel {
  const char* name;
  Site site;
  void (*run)(const void* closure);  ///< runs one CUDA thread on a copy of the closure
  void (*destroy)(void* closure);
  std::size_t closure_bytes;
  int max_threads;               ///< of __launch_bounds__; 0 without
  int dynamic_shared_asked = 0;  ///< bytes that cudaFuncSetAttribute has asked for
  bool blocks_wait = false;      ///< its blocks have been seen to wait for each other
};

/// Storage for the closure of a kernel that is about to be launched; null while a kernel is only
/// being identified.
void* stash(Kernel& kernel);

/// The arguments of `__launch_bounds__`.
struct LaunchBounds {
  int max_threads = 0, min_blocks = 0, max_cluster = 0;
};

/// The body of every `__global__` function: keeps the arguments for the launch that follows.
template <class Body>
void kernel(const char* name, const char* file, int line, LaunchBounds bounds, Body&& body) {
  static_assert(alignof(Body) <= 64, "kernel parameters are over-aligned");
  static Kernel self{name,
                     {file, line},
                     [](const void* closure) {
                       Body copy(*static_cast<const Body*>(closure));
                       copy();
                     },
                     [](void* closure) { static_cast<Body*>(closure)->~Body(); },
                     sizeof(Body),
                     bounds.max_threads};
  if (void* storage = stash(self)) new (storage) Body(std::move(body));
}

/// `<<<grid, block, dynamic_shared, stream>>>` for the kernel that was stashed last.
void launch(dim3 grid, dim3 block, std::size_t dynamic_shared = 0, cudaStream_t stream = nullptr,
            Site site = here());

/// One `__shared__` declaration. Its address is the same for all threads of a block.
struct SharedVariable {
  const char* name;
  std::size_t bytes, alignment;
  Site site;
  int id = 0;

  constexpr SharedVariable(const char* name, std::size_t bytes, std::size_t alignment,
                           const char* file, int line)
      : name(name), bytes(bytes), alignment(alignment), site{file, line} {}
  void* address();
};

/// Start of the launch's dynamic shared memory.
void* dynamic_shared();

/// Runs on the last lane to arrive; `data[i]` is what lane i of the warp posted, and bit i of
/// `present` tells whether it takes part.
using WarpCombine = void (*)(void* const* data, unsigned present);
/// Returns when every live lane of `mask` in the caller's warp has posted for the same `combine`.
void warp_rendezvous(unsigned mask, WarpCombine combine, void* data, const char* what, Site site);

/// As WarpCombine, for the whole block; `data[i]` is null for threads that have exited.
using BlockCombine = void (*)(void* const* data, unsigned count);
void block_rendezvous(BlockCombine combine, void* data, const char* what, Site site);
/// Returns when every thread of a cooperative launch has arrived.
void grid_rendezvous(Site site);

/// The lanes of the caller's warp that come to the same place; whoever cannot come before the
/// others go on is left out.
unsigned converged_lanes(Site site);
bool is_cooperative();
/// True in a CUDA thread, false in host code.
bool in_kernel();
/// Lets other threads of the block run; for spin loops.
void yield();
/// Before an atomic and at a fence: the threads of a block meet in shared memory there.
void meet_others();
/// After an atomic that changed nothing: a loop of them may wait for another thread.
void may_spin();
/// Tells once per place that a shuffle read from a lane which takes no part.
void warn_absent_source(unsigned lane, const char* what, Site site);
[[noreturn]] void trap(const char* what, Site site);

}  // namespace kb::cpu
#pragma GCC visibility pop
