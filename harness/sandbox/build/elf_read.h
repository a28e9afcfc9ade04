// Structures of <elf.h> out of a file's bytes, which may be hostile.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <type_traits>

namespace kb {

/// The structure at `offset`. @throws std::runtime_error if it does not lie within the bytes
template <class T>
T read_structure(std::string_view bytes, uint64_t offset) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) {
    throw std::runtime_error("ELF file is cut short");
  }
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

}  // namespace kb
