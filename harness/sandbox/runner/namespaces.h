// A runner's own user, network, IPC and process namespaces.
#pragma once

#include <cstdint>

namespace kb::runner {

/// Enters what the machine allows, then drops every capability. With `own_processes` the caller
/// goes on as the second process of a new process namespace, with a /proc of its own, while the
/// process that called waits and ends as the runner ends.
/// @return the protocol::Layer bits that hold
uint32_t enter_namespaces(bool own_processes);

}  // namespace kb::runner
