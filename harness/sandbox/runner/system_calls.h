// The system calls that a candidate is denied.
#pragma once

#include <cstdint>

namespace kb::runner {

/// Denies them to every thread of this process with EPERM, so that a library that only tries goes
/// on. @return protocol::system_calls, or 0 where the kernel refuses
uint32_t deny_system_calls();

/// From here on no thread gets executable memory, not even from a file, or a further filter, or
/// another handler of a fault. For when the candidate's module is mapped and none of its code has
/// run. @return whether the kernel agreed
bool deny_new_code();

}  // namespace kb::runner
