// assert() that ends the kernel with cudaErrorAssert on the device and the process on the host.
#pragma GCC system_header
#include_next <assert.h>

#ifndef NDEBUG
#include "cudacpu/qualifiers.hpp"
namespace kb::cpu {
[[noreturn]] KB_DEVICE_FUNCTION __attribute__((visibility("default"))) void assert_failed(
    const char* expression, const char* file, int line);
}  // namespace kb::cpu
#undef assert
#define assert(...)               \
  (static_cast<bool>(__VA_ARGS__) \
       ? void(0)                  \
       : ::kb::cpu::assert_failed(#__VA_ARGS__, __builtin_FILE(), __builtin_LINE()))
#endif
