// The system calls that a candidate is denied.
#pragma once

#include <cstdint>

namespace kb::runner {

/// Denies them to every thread of this process with EPERM, so that a library that only tries goes
/// on. @return protocol::system_calls, or 0 where the kernel refuses
uint32_t deny_system_calls();

}  // namespace kb::runner
