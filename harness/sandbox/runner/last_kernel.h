// What error messages name: the kernel that was launched last, and tensors.
#pragma once

#include <string>

namespace kb::runner {

/// The demangled name, or "" where it is unknown.
std::string last_kernel();

/// What is noted of it, and how to set that.
const void* noted_kernel();
void note_kernel(const void* kernel);

/// Tells whoever reports a fault what lies in the memory that was mapped at `base`.
void note_tensor(const void* base, const char* name);

/// From here on a fault in a kernel is reported, where this process hears of it: on the CPU. To be
/// called before handlers can no longer be changed.
void report_faults();

/// What is launched while one of these lives is the runner's own and leaves no note.
class Unnoted {
 public:
  Unnoted() = default;
  ~Unnoted() { note_kernel(before_); }
  Unnoted(const Unnoted&) = delete;  // ends once
  Unnoted& operator=(const Unnoted&) = delete;

 private:
  const void* before_ = noted_kernel();
};

}  // namespace kb::runner
