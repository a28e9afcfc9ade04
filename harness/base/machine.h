// What this machine has to offer before anything is blamed on a kernel.
#pragma once

namespace kb {

/// Throws std::runtime_error with the remedy if something is missing that neither compilers nor
/// judges can do without: without it a kernel would look wrong that is not.
void require_machine();

}  // namespace kb
