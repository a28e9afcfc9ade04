// All that a task and its candidate share: fixed-width integers, the element type, the stream,
// named weights. Plain C++17.
//
// Rules for a kernel:
// 1. Sizes are run-time values. A field of `Sizes` may look like a constant (`batch_size = 4096`),
//    but that is only its default. The same code must be right for every value that the task
//    accepts, also for sizes that are no multiple of anything.
// 2. Pointers point to contiguous row-major tensors in device memory, of the shapes that `task.h`
//    says.
// 3. A call writes every element of every output. Outputs hold garbage before it.
// 4. A call changes nothing else: inputs, weights and the memory next to the tensors stay as they
//    are.
// 5. A call computes its outputs from the inputs of this call. It does not use results of an
//    earlier call, not even for inputs that look the same.
// 6. All work goes to the stream that `launch` gets, or to streams that fork from it and join it
//    again. No work of a call goes on after the work on that stream.
// 7. `launch` does not synchronise with the device. Temporary memory comes from `cudaMallocAsync`
//    on that stream.
// 8. Where `task.h` declares `prepare`, the file may define it. It may make anything that depends
//    on weights alone, such as other layouts, other types or products of weights, and keep that for
//    `launch`. It is not timed, and runs again whenever weights change.
// 9. A kernel is one file in plain CUDA C++17. It includes `task.h` and defines `task::launch` as
//    declared there. It may include headers of the CUDA toolkit and of the C++ standard library.
//    Further headers, and libraries of kernels such as cuBLAS and cuDNN, are only for runs that
//    declare them. PyTorch is for none.
// 10. The file starts no processes, no timers and, on a GPU, no host threads. It opens no files and
//     no network.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <tuple>

// The CUDA runtime's own declaration, repeated so that a reference needs no CUDA toolkit.
typedef struct CUstream_st* cudaStream_t;

// CUDA's 16-bit types, by name only: whoever reads their elements includes <cuda_fp16.h> or
// <cuda_bf16.h>. A candidate has the one it needs before its first line.
#ifndef __CUDACC__
struct __half;
struct __nv_bfloat16;
#endif

/// Lists the fields of a task's `Sizes` so that tools can set them by name (`--size NAME=VALUE`).
/// Every field must be listed; a missing one fails to compile in the reference.
#define KB_FIELDS(...)                                             \
  static constexpr const char* kb_names() { return #__VA_ARGS__; } \
  auto kb_values() { return std::tie(__VA_ARGS__); }               \
  auto kb_values() const { return std::tie(__VA_ARGS__); }

/// Marks a function that a candidate may define but need not.
#define KB_OPTIONAL __attribute__((weak))

namespace kb {

/// What the elements of inputs, weights and outputs are, by the precision contract of the build:
/// float, but __half under `fp16` and __nv_bfloat16 under `bf16`. Integers and bools stay what they
/// are.
#if defined(KB_CONTRACT_FP16)
using real = __half;
#elif defined(KB_CONTRACT_BF16)
using real = __nv_bfloat16;
#else
using real = float;
#endif

/// One tensor of a model's state: contiguous on the device, under its upstream state_dict name.
struct Weight {
  static constexpr int max_rank = 8;
  const char* name;
  const real* data;
  int rank;
  int64_t shape[max_rank];
};

/// The weights of a large model, in state_dict order. Lives on the host for the whole session.
class Weights {
 public:
  /// @param places  a hash table by hash(): the position of a weight plus one, or 0 for none
  /// @param mask    the table's length less one; the length is a power of two
  Weights(const Weight* first, size_t count, const uint32_t* places, size_t mask)
      : first_(first), count_(count), places_(places), mask_(mask) {}

  const Weight* begin() const { return first_; }
  const Weight* end() const { return first_ + count_; }
  size_t size() const { return count_; }

  /// Device pointer of the weight called `name`; ends the program with a message if there is none.
  const real* operator[](const char* name) const { return find(name).data; }

  /// The weight called `name`; ends the program with a message if there is none.
  const Weight& find(const char* name) const {
    for (size_t i = hash(name) & mask_; places_[i] != 0; i = (i + 1) & mask_) {
      const Weight& w = first_[places_[i] - 1];
      if (std::strcmp(w.name, name) == 0) return w;
    }
    std::fprintf(stderr, "kb::Weights has no weight named '%s'\n", name);
    std::abort();
  }

  /// Eight characters at a time: networks have hundreds of names, and launch() may ask for all.
  static size_t hash(const char* name) {
    constexpr uint64_t mix = 0x9E3779B97F4A7C15;
    uint64_t h = 0;
    for (size_t left = std::strlen(name); left > 0;) {
      const size_t bytes = left < 8 ? left : 8;
      uint64_t part = 0;
      std::memcpy(&part, name, bytes);
      h = (h ^ part) * mix;
      h ^= h >> 29;
      name += bytes;
      left -= bytes;
    }
    return static_cast<size_t>(h);
  }

 private:
  const Weight* first_;
  size_t count_;
  const uint32_t* places_;
  size_t mask_;
};

}  // namespace kb

namespace task {
using kb::real;
}
