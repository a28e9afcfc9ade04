// Reads the parts of an ELF file that audits need. 64-bit little-endian x86-64 only, as the suite
// is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kb {

/// An entry of a symbol table. Numbers are those of <elf.h> (STB_, STT_, STV_, SHN_).
struct ElfSymbol {
  std::string name;
  uint8_t binding = 0;
  uint8_t type = 0;
  uint8_t visibility = 0;
  uint32_t section = 0;
  uint64_t value = 0;

  bool defined() const { return section != 0; }
  bool local() const { return binding == 0; }
  bool weak() const { return binding == 2; }
  /// Code chooses its address while the file is loaded (STT_GNU_IFUNC).
  bool indirect() const { return defined() && type == 10; }
};

/// A function that runs when the file is loaded: where an .init_array entry of an object points.
/// The target is symbol + addend of its relocation.
struct ElfInitializer {
  uint32_t symbol = 0;  ///< index into ElfFile::symbols
  int64_t addend = 0;
};

/// One relocatable object or shared object.
struct ElfFile {
  uint16_t type = 0;                       ///< ET_REL or ET_DYN
  std::vector<ElfSymbol> symbols;          ///< .symtab, empty in stripped files
  std::vector<ElfSymbol> dynamic_symbols;  ///< .dynsym
  std::vector<ElfInitializer> initializers;
  bool has_init_code = false;  ///< code in .init or .preinit_array of an object
  std::vector<std::string> needed;
  std::vector<int64_t> dynamic_tags;
  bool directs_linker = false;    ///< an object with sections of a type that linkers may act upon
  bool resolves_by_code = false;  ///< a shared object with indirect functions
};

/// Reads `path`. Every offset is checked: the file may be hostile. Throws std::runtime_error with a
/// sentence about what is wrong, also if it has more symbols than any honest kernel, or if a shared
/// object's section table contradicts what the loader would read.
ElfFile read_elf(const std::filesystem::path& path);

}  // namespace kb
