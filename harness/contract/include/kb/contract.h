// All that a task and its candidate share: fixed-width integers, the stream, named weights. Plain
// C++17.
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

/// Lists the fields of a task's `Sizes` so that tools can set them by name (`--size NAME=VALUE`).
/// Every field must be listed; a missing one fails to compile in the reference.
#define KB_FIELDS(...)                                             \
  static constexpr const char* kb_names() { return #__VA_ARGS__; } \
  auto kb_values() { return std::tie(__VA_ARGS__); }               \
  auto kb_values() const { return std::tie(__VA_ARGS__); }

/// Marks a function that a candidate may define but need not.
#define KB_OPTIONAL __attribute__((weak))

namespace kb {

/// One tensor of a model's state: contiguous fp32 on the device, under its upstream state_dict
/// name.
struct Weight {
  static constexpr int max_rank = 8;
  const char* name;
  const float* data;
  int rank;
  int64_t shape[max_rank];
};

/// The weights of a large model, in state_dict order. Lives on the host for the whole session.
class Weights {
 public:
  Weights(const Weight* first, size_t count) : first_(first), count_(count) {}

  const Weight* begin() const { return first_; }
  const Weight* end() const { return first_ + count_; }
  size_t size() const { return count_; }

  /// Device pointer of the weight called `name`; ends the program with a message if there is none.
  const float* operator[](const char* name) const { return find(name).data; }

  /// The weight called `name`; ends the program with a message if there is none.
  const Weight& find(const char* name) const {
    for (const Weight& w : *this) {
      if (std::strcmp(w.name, name) == 0) return w;
    }
    std::fprintf(stderr, "kb::Weights has no weight named '%s'\n", name);
    std::abort();
  }

 private:
  const Weight* first_;
  size_t count_;
};

}  // namespace kb
