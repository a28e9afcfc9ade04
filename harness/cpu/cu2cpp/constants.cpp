// Sections of __constant__ variables, named when rewriting and counted in the object.
#include "constants.hpp"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

namespace kb::cu2cpp {
namespace {

constexpr std::string_view prefix = ".kb_constant.";

template <class T>
std::optional<T> read(std::string_view bytes, std::size_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace

std::string constant_section(std::size_t number) {
  return "__attribute__((section(\"" + std::string(prefix) + std::to_string(number) + "\")))";
}

std::size_t constant_bytes(const std::string& object) {
  std::ifstream in(object, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto header = read<Elf64_Ehdr>(text, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return 0;
  const auto section = [&](std::size_t i) {
    return read<Elf64_Shdr>(text, header->e_shoff + i * sizeof(Elf64_Shdr));
  };
  const auto names = section(header->e_shstrndx);
  std::size_t bytes = 0;
  for (std::size_t i = 0; names && i < header->e_shnum; ++i) {
    const auto each = section(i);
    if (!each) break;
    const std::size_t name = names->sh_offset + each->sh_name;
    if (name > text.size() || text.compare(name, prefix.size(), prefix) != 0) continue;
    const std::size_t unit = each->sh_addralign > 0 ? each->sh_addralign : 1;
    bytes = (bytes + unit - 1) / unit * unit + each->sh_size;
  }
  return bytes;
}

}  // namespace kb::cu2cpp
