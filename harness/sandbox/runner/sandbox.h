// Walls around a runner, put up while it is still trusted.
#pragma once

#include <string>
#include <vector>

#include "sandbox/protocol/isolation.h"

namespace kb::runner {

/// Gives up privileges, memory, namespaces and files, as far as this machine lets it. Call it first
/// of all: the process that returns may be a grandchild of the one that called, and threads that
/// run already would keep what they have.
/// @param libraries files that stay readable, with their folders
protocol::Isolation enter_sandbox(const std::vector<std::string>& libraries);

/// Denies what only the start of CUDA needs: system calls to all threads, files to this one. Adds
/// its layer to `isolation`.
void close_sandbox(protocol::Isolation& isolation);

}  // namespace kb::runner
