#include "sandbox/build/module_code.h"

#include <elf.h>

#include <stdexcept>

#include "base/files.h"
#include "base/sha256.h"
#include "sandbox/build/elf_file.h"
#include "sandbox/build/elf_read.h"

namespace kb {
namespace {

// Section headers that hold bytes of code or data.
bool is_program(const Elf64_Shdr& section) {
  const bool program = section.sh_type == SHT_PROGBITS || section.sh_type == SHT_INIT_ARRAY ||
                       section.sh_type == SHT_RELA;
  return program && (section.sh_flags & SHF_ALLOC) != 0;
}

}  // namespace

std::string module_code_sha256(const std::filesystem::path& path) {
  read_elf(path);  // refuses what is not whole
  const std::string bytes = read_text(path);
  const auto header = read_structure<Elf64_Ehdr>(bytes, 0);
  Sha256 hash;
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = read_structure<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (!is_program(section)) continue;
    if (section.sh_offset > bytes.size() || section.sh_size > bytes.size() - section.sh_offset) {
      throw std::runtime_error(path.string() + " is cut short");
    }
    hash.update(&section.sh_size, sizeof section.sh_size);
    hash.update(bytes.data() + section.sh_offset, section.sh_size);
  }
  return hash.hex_digest();
}

}  // namespace kb
