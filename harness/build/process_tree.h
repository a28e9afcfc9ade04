// Finds, measures and ends the descendants of this process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace kb {

/// All living descendants of this process. Empty where the kernel lists no children in /proc.
std::vector<pid_t> descendants();

/// Resident bytes of these processes together; processes that are gone count as 0.
uint64_t resident_bytes(const std::vector<pid_t>& processes);

}  // namespace kb
