// A bounds-checked ELF64 reader on top of the structures of <elf.h>.
#include "sandbox/build/elf_file.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include "sandbox/build/elf_read.h"

namespace kb {
namespace {

// Types that the linker only copies, joins or reads for their content. Others are extensions:
// LLVM's can name further files to link.
bool holds_no_orders(uint32_t type) {
  switch (type) {
    case SHT_NULL:
    case SHT_PROGBITS:
    case SHT_SYMTAB:
    case SHT_STRTAB:
    case SHT_RELA:
    case SHT_NOTE:
    case SHT_NOBITS:
    case SHT_INIT_ARRAY:
    case SHT_FINI_ARRAY:
    case SHT_PREINIT_ARRAY:
    case SHT_GROUP:
    case SHT_SYMTAB_SHNDX:
    case SHT_X86_64_UNWIND:
      return true;
    default:
      return false;
  }
}

// GNU ld prints what a section of the first kind holds, and hands one of the second to a compiler.
bool is_order(std::string_view section) {
  return section.starts_with(".gnu.warning") || section.starts_with(".gnu.lto_");
}

static_assert(std::endian::native == std::endian::little,
              "the reader copies structures as they are");

// No honest kernel comes near. Names may share their bytes, so that those of a small file can fill
// the memory.
constexpr uint64_t most_symbols = 100000;
constexpr uint64_t most_name_bytes = 64 << 20;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

class Image {
 public:
  explicit Image(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in) fail("cannot open " + path.string());
    bytes_.resize(static_cast<size_t>(in.tellg()));
    in.seekg(0);
    if (!in.read(bytes_.data(), static_cast<std::streamsize>(bytes_.size()))) {
      fail("cannot read " + path.string());
    }
  }

  template <class T>
  T at(uint64_t offset) const {
    return read_structure<T>({bytes_.data(), bytes_.size()}, offset);
  }

  /// `count` structures from `offset`.
  template <class T>
  std::vector<T> table(uint64_t offset, uint64_t count) const {
    if (count > bytes_.size() / sizeof(T)) fail("ELF table is longer than the file");
    std::vector<T> result;
    result.reserve(count);
    for (uint64_t i = 0; i < count; ++i) result.push_back(at<T>(offset + i * sizeof(T)));
    return result;
  }

  /// The zero-terminated string at `offset` inside a string table section.
  std::string string(const Elf64_Shdr& strings, uint64_t offset) {
    if (strings.sh_type == SHT_NOBITS || offset >= strings.sh_size ||
        strings.sh_offset > bytes_.size() || bytes_.size() - strings.sh_offset < strings.sh_size) {
      fail("ELF string table is cut short");
    }
    const char* first = bytes_.data() + strings.sh_offset + offset;
    const char* last = bytes_.data() + strings.sh_offset + strings.sh_size;
    const char* zero = std::find(first, last, '\0');
    if (zero == last) fail("ELF string has no end");
    name_bytes_ += static_cast<uint64_t>(zero - first);
    if (name_bytes_ > most_name_bytes) fail("ELF names of more than 64 MiB");
    return {first, zero};
  }

 private:
  std::vector<char> bytes_;
  uint64_t name_bytes_ = 0;  // of all strings that were asked for
};

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : image_(path) {}

  ElfFile read() {
    read_header();
    read_sections();
    for (size_t i = 0; i < sections_.size(); ++i) {
      const Elf64_Shdr& section = sections_[i];
      if (section.sh_type == SHT_SYMTAB) take_symbols(i, &file_.symbols, &symbol_tables_);
      if (section.sh_type == SHT_DYNSYM) take_symbols(i, &file_.dynamic_symbols, &dynamic_tables_);
      if (section.sh_type == SHT_DYNAMIC) read_dynamic(section);
      if (section.sh_type == SHT_RELA && file_.type == ET_DYN) read_relocations(section);
    }
    for (const auto* table : {&file_.symbols, &file_.dynamic_symbols}) {
      for (const ElfSymbol& symbol : *table) file_.resolves_by_code |= symbol.indirect();
    }
    if (file_.type == ET_REL) {
      read_initializers();
    } else {
      check_loader_agrees();
    }
    return std::move(file_);
  }

 private:
  void read_header() {
    header_ = image_.at<Elf64_Ehdr>(0);
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0) fail("not an ELF file");
    if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB ||
        header_.e_machine != EM_X86_64) {
      fail("not a 64-bit x86-64 ELF file");
    }
    if (header_.e_type != ET_REL && header_.e_type != ET_DYN) {
      fail("neither an object nor a shared object");
    }
    file_.type = header_.e_type;
  }

  void read_sections() {
    if (header_.e_shoff == 0) fail("ELF file without sections");
    if (header_.e_shentsize != sizeof(Elf64_Shdr)) fail("ELF section headers of unknown size");
    const auto first = image_.at<Elf64_Shdr>(header_.e_shoff);
    // Files with many sections keep the real numbers in section 0.
    const uint64_t count = header_.e_shnum != 0 ? header_.e_shnum : first.sh_size;
    const uint32_t names = header_.e_shstrndx != SHN_XINDEX ? header_.e_shstrndx : first.sh_link;
    sections_ = image_.table<Elf64_Shdr>(header_.e_shoff, count);
    for (const Elf64_Shdr& section : sections_) {
      section_names_.push_back(image_.string(section_at(names), section.sh_name));
      if (!holds_no_orders(section.sh_type) || is_order(section_names_.back())) {
        file_.directs_linker = true;
      }
    }
  }

  const Elf64_Shdr& section_at(uint64_t index) const {
    if (index >= sections_.size()) fail("ELF section index out of range");
    return sections_[index];
  }

  // The format wants no more than one table of a kind.
  void take_symbols(size_t section_index, std::vector<ElfSymbol>* table, int* tables) {
    if (++*tables > 1) fail("ELF file with two symbol tables of a kind");
    *table = symbols(section_index);
  }

  std::vector<ElfSymbol> symbols(size_t section_index) {
    const Elf64_Shdr& section = sections_[section_index];
    const Elf64_Shdr& strings = section_at(section.sh_link);
    const auto table =
        image_.table<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym));
    if (table.size() > most_symbols) {
      fail("ELF symbol table of " + std::to_string(table.size()) + " entries, more than the " +
           std::to_string(most_symbols) + " that are read");
    }
    const std::vector<uint32_t> extended = extended_indices(section_index);
    std::vector<ElfSymbol> result;
    result.reserve(table.size());
    for (size_t i = 0; i < table.size(); ++i) {
      const Elf64_Sym& symbol = table[i];
      uint32_t where = symbol.st_shndx;
      if (where == SHN_XINDEX && i < extended.size()) where = extended[i];
      result.push_back({image_.string(strings, symbol.st_name),
                        static_cast<uint8_t>(ELF64_ST_BIND(symbol.st_info)),
                        static_cast<uint8_t>(ELF64_ST_TYPE(symbol.st_info)),
                        static_cast<uint8_t>(ELF64_ST_VISIBILITY(symbol.st_other)), where,
                        symbol.st_value});
    }
    return result;
  }

  std::vector<uint32_t> extended_indices(size_t symbol_table) const {
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type == SHT_SYMTAB_SHNDX && section.sh_link == symbol_table) {
        return image_.table<uint32_t>(section.sh_offset, section.sh_size / sizeof(uint32_t));
      }
    }
    return {};
  }

  void read_initializers() {
    for (size_t i = 0; i < sections_.size(); ++i) {
      const std::string& name = section_names_[i];
      if ((name == ".init" || name == ".preinit_array") && sections_[i].sh_size > 0) {
        file_.has_init_code = true;
      }
      if (sections_[i].sh_type != SHT_RELA) continue;
      const uint32_t target = sections_[i].sh_info;
      const bool initializes = section_at(target).sh_type == SHT_INIT_ARRAY ||
                               section_names_[target].starts_with(".init_array") ||
                               section_names_[target].starts_with(".ctors");
      if (!initializes) continue;
      for (const auto& entry : image_.table<Elf64_Rela>(
               sections_[i].sh_offset, sections_[i].sh_size / sizeof(Elf64_Rela))) {
        file_.initializers.push_back(
            {static_cast<uint32_t>(ELF64_R_SYM(entry.r_info)), entry.r_addend});
      }
    }
  }

  void read_relocations(const Elf64_Shdr& section) {
    for (const auto& entry :
         image_.table<Elf64_Rela>(section.sh_offset, section.sh_size / sizeof(Elf64_Rela))) {
      file_.resolves_by_code |= ELF64_R_TYPE(entry.r_info) == R_X86_64_IRELATIVE;
    }
  }

  void read_dynamic(const Elf64_Shdr& section) {
    const Elf64_Shdr& strings = section_at(section.sh_link);
    for (const auto& entry :
         image_.table<Elf64_Dyn>(section.sh_offset, section.sh_size / sizeof(Elf64_Dyn))) {
      if (entry.d_tag == DT_NULL) break;
      file_.dynamic_tags.push_back(entry.d_tag);
      if (entry.d_tag == DT_NEEDED) {
        file_.needed.push_back(image_.string(strings, entry.d_un.d_val));
      }
      if (entry.d_tag == DT_SYMTAB) loader_symbols_ = entry.d_un.d_ptr;
      if (entry.d_tag == DT_STRTAB) loader_strings_ = entry.d_un.d_ptr;
    }
    dynamic_section_ = &section;
  }

  // The loader never looks at sections. A file edited by hand could show an audit one table and
  // the loader another, so both views must be the same bytes.
  void check_loader_agrees() const {
    if (header_.e_phentsize != sizeof(Elf64_Phdr)) fail("ELF program headers of unknown size");
    size_t dynamic_segments = 0;
    for (const auto& segment : image_.table<Elf64_Phdr>(header_.e_phoff, header_.e_phnum)) {
      if (segment.p_type != PT_DYNAMIC) continue;
      ++dynamic_segments;
      if (dynamic_section_ == nullptr || segment.p_offset != dynamic_section_->sh_offset ||
          segment.p_filesz != dynamic_section_->sh_size ||
          segment.p_vaddr != dynamic_section_->sh_addr) {
        fail("the section table contradicts the dynamic segment");
      }
    }
    if (dynamic_segments != 1) fail("not one dynamic segment but another number");
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type != SHT_DYNSYM) continue;
      if (section.sh_addr != loader_symbols_ ||
          section_at(section.sh_link).sh_addr != loader_strings_ ||
          section_at(dynamic_section_->sh_link).sh_addr != loader_strings_) {
        fail("the section table contradicts the dynamic symbol table");
      }
    }
    if (dynamic_tables_ == 0) fail("no dynamic symbol table");
  }

  Image image_;
  Elf64_Ehdr header_ = {};
  std::vector<Elf64_Shdr> sections_;
  std::vector<std::string> section_names_;
  int symbol_tables_ = 0;
  int dynamic_tables_ = 0;
  const Elf64_Shdr* dynamic_section_ = nullptr;
  uint64_t loader_symbols_ = 0;
  uint64_t loader_strings_ = 0;
  ElfFile file_;
};

}  // namespace

ElfFile read_elf(const std::filesystem::path& path) { return Reader(path).read(); }

}  // namespace kb
