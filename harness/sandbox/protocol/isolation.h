// The layers that hold a runner in place, as bits that a runner reports before it loads a
// candidate.
#pragma once

#include <cstdint>
#include <string>

namespace kb::protocol {

enum Layer : uint32_t {
  no_new_privileges = 1u << 0,
  limits = 1u << 1,             ///< memory, open files, file sizes, core dumps
  user_namespace = 1u << 2,     ///< no capability outside, even if the judge is root
  network_namespace = 1u << 3,  ///< no interfaces at all
  ipc_namespace = 1u << 4,
  process_namespace = 1u << 5,  ///< sees and reaches no process but itself
  file_access = 1u << 6,        ///< Landlock: system libraries and devices only
  system_calls = 1u << 7,       ///< seccomp: no processes, sockets, tracing, scheduling of others
};

/// What a backend wants and what this machine let it have.
struct Isolation {
  uint32_t wanted = 0;
  uint32_t held = 0;

  bool full() const { return (wanted & ~held) == 0; }
};

/// "full"; "partial(network_namespace, file_access)" with what is missing; "basic" if nothing
/// beyond a process of its own, its limits and no-new-privileges holds.
std::string to_string(const Isolation& isolation);

}  // namespace kb::protocol
