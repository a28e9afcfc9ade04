// The name of the kernel that was launched last, for error messages.
#pragma once

#include <string>

namespace kb::runner {

/// The demangled name, or "" where it is unknown.
std::string last_kernel();

}  // namespace kb::runner
