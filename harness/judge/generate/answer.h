// From what a generator printed to the source of a kernel.
#pragma once

#include <string>
#include <string_view>

namespace kb {

/// The longest block between fences (```), to the end if its closing fence is missing; without a
/// fence the whole answer.
std::string kernel_of(std::string_view answer);

/// A source that stands for a kernel that was never written: it does not compile, and the compiler
/// says why. `reason` completes "the generator gave no kernel: ".
std::string no_kernel(const std::string& reason);

}  // namespace kb
