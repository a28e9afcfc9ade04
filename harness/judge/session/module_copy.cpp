// Only tags of the dynamic section change; sizes and offsets stay.
#include "judge/session/module_copy.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "base/result/files.h"
#include "sandbox/build/elf_read.h"
#include "sandbox/protocol/constructors.h"

namespace kb {
namespace {

bool starts_code(int64_t tag) {
  return tag == DT_INIT || tag == DT_INIT_ARRAY || tag == DT_INIT_ARRAYSZ;
}

void hide_in(std::string& elf, const Elf64_Phdr& dynamic) {
  for (uint64_t at = dynamic.p_offset;; at += sizeof(Elf64_Dyn)) {
    auto entry = read_structure<Elf64_Dyn>(elf, at);
    if (entry.d_tag == DT_NULL) return;
    if (!starts_code(entry.d_tag)) continue;
    entry.d_tag = protocol::hidden_tag(entry.d_tag);
    std::memcpy(elf.data() + at, &entry, sizeof entry);
  }
}

}  // namespace

void hide_constructors(std::string& elf) {
  const auto header = read_structure<Elf64_Ehdr>(elf, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_type != ET_DYN ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr)) {
    throw std::runtime_error("the candidate's module is no 64-bit shared object");
  }
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = read_structure<Elf64_Phdr>(elf, header.e_phoff + i * sizeof(Elf64_Phdr));
    if (segment.p_type == PT_DYNAMIC) hide_in(elf, segment);
  }
}

Descriptor sealed_copy(const std::filesystem::path& module) {
  std::string bytes = read_text(module);
  hide_constructors(bytes);
  Descriptor copy(
      memfd_create(module_copy_name + std::strlen("memfd:"), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (write(copy.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()) ||
      fcntl(copy.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) !=
          0) {
    throw std::runtime_error("cannot copy " + module.string() +
                             " to memory: " + std::strerror(errno));
  }
  return copy;
}

}  // namespace kb
