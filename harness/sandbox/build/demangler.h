// Names of symbols for people. Candidates choose the symbols.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kb {

/// The names that programmers wrote, printable and of at most 300 bytes. What is not mangled stays
/// as it is; so does, with all that follow, a symbol whose name asks for too much time or memory.
/// Rules must look at symbols, never at these.
std::vector<std::string> demangled(const std::vector<std::string>& symbols);

std::string demangled(std::string_view symbol);

}  // namespace kb
