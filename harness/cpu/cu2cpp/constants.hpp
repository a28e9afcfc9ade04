// How much constant memory a compiled source takes: rewriting gives each __constant__ declaration a
// section of its own in the object.
#pragma once

#include <cstddef>
#include <string>

namespace kb::cu2cpp {

/// Bytes that every GPU has for the __constant__ variables of one file.
inline constexpr std::size_t constant_limit = 65536;

/// What to put in place of the keyword of declaration number `number`.
std::string constant_section(std::size_t number);

/// Bytes of these sections in an object, laid out one behind the other as ptxas does; 0 for what is
/// no 64-bit ELF file.
std::size_t constant_bytes(const std::string& object);

}  // namespace kb::cu2cpp
