// Looks at the symbol table that the compiler wrote: linkage is what counts, not the source text.
#include "sandbox/build/object_audit.h"

#include <elf.h>

#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "sandbox/build/demangler.h"
#include "sandbox/build/elf_file.h"
#include "sandbox/build/symbol_rules.h"

namespace kb {
namespace {

// task::launch whatever its parameters are.
bool is_launch(const ElfSymbol& symbol) { return symbol.name.starts_with("_ZN4task6launchE"); }

bool defines_launch(const ElfFile& file) {
  bool defined = false;
  bool entry = false;
  for (const ElfSymbol& symbol : file.symbols) {
    if (symbol.local()) continue;
    // entry.h calls the declared launch: if that one is undefined, another one does not help.
    if (is_launch(symbol) && !symbol.defined()) return false;
    defined |= is_launch(symbol) && symbol.defined();
    entry |= symbol.name == "kb_launch" && symbol.defined();
  }
  // An `inline` launch may have been inlined into kb_launch and leave no symbol of its own.
  return defined || entry;
}

// Functions that run when the module is loaded, but for those from which nvcc registers the kernels
// of each object.
int count_constructors(const ElfFile& file) {
  using Place = std::pair<uint32_t, uint64_t>;  // section, offset
  std::set<Place> registrations;
  for (const ElfSymbol& symbol : file.symbols) {
    if (symbol.type == STT_FUNC && symbol.local() &&
        symbol.name.find("__sti____cudaRegisterAll") != std::string::npos) {
      registrations.emplace(symbol.section, symbol.value);
    }
  }
  int count = file.has_init_code ? 1 : 0;
  for (const ElfInitializer& initializer : file.initializers) {
    if (initializer.symbol < file.symbols.size()) {
      const ElfSymbol& base = file.symbols[initializer.symbol];
      const uint64_t target = base.value + static_cast<uint64_t>(initializer.addend);
      if (registrations.contains({base.section, target})) continue;
    }
    ++count;
  }
  return count;
}

}  // namespace

ObjectAudit audit_object(const std::filesystem::path& object) {
  ObjectAudit audit;
  ElfFile file;
  try {
    file = read_elf(object);
  } catch (const std::runtime_error& error) {
    audit.problem = std::string("the compiler wrote no usable object: ") + error.what();
    return audit;
  }
  if (file.type != ET_REL) {
    audit.problem = "the compiler wrote no relocatable object";
    return audit;
  }
  audit.static_constructors = count_constructors(file);
  if (file.directs_linker) {
    audit.problem = "candidate has a section that gives orders to the linker";
    return audit;
  }
  for (const ElfSymbol& symbol : file.symbols) {
    if (!symbol.defined() || symbol.local()) continue;
    if (symbol.weak() && symbol.name.starts_with("kb_")) {
      audit.problem =
          "candidate makes " + demangled(symbol.name) + " weak, so that another could replace it";
      return audit;
    }
    if (const auto reason = forbidden_definition(symbol.name, symbol.weak())) {
      audit.problem = "candidate defines " + demangled(symbol.name) + ", " + *reason;
      return audit;
    }
  }
  if (!defines_launch(file)) {
    audit.problem =
        "candidate does not define task::launch with the signature that task.h declares";
  }
  return audit;
}

}  // namespace kb
