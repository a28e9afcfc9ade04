// Finds and measures the descendants of a process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace kb {

/// The living children of all threads of a process. Empty if it is gone, and where the kernel lists
/// no children in /proc.
std::vector<pid_t> children_of(pid_t process);

/// Its children, their children and so on.
std::vector<pid_t> descendants_of(pid_t process);

/// Resident bytes of these processes together; processes that are gone count as 0.
uint64_t resident_bytes(const std::vector<pid_t>& processes);

}  // namespace kb
