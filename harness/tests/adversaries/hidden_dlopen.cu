// Finds the loader in memory, where no import shows, and loads a library that the machine has, to
// use it and be rid of it before anybody looks.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/escape.cuh"

#include <dlfcn.h>
#include <link.h>
#include <string>

// The address of a function of the C library's, read from its symbol table.
static void* find_in_libc(const char* name) {
  struct Search {
    const char* name;
    void* address;
  } search{name, nullptr};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        if (std::strstr(info->dlpi_name, "libc.so") == nullptr) return 0;
        const ElfW(Sym)* symbols = nullptr;
        const char* strings = nullptr;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
          auto* entry =
              reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
          for (; entry->d_tag != DT_NULL; ++entry) {
            if (entry->d_tag == DT_SYMTAB)
              symbols = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr);
            if (entry->d_tag == DT_STRTAB)
              strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
          }
        }
        // The names lie behind the symbols.
        auto* wanted = static_cast<Search*>(out);
        for (const auto* s = symbols; reinterpret_cast<const char*>(s + 1) <= strings; ++s) {
          if (s->st_value == 0 || std::strcmp(strings + s->st_name, wanted->name) != 0) continue;
          wanted->address = reinterpret_cast<void*>(info->dlpi_addr + s->st_value);
        }
        return 0;
      },
      &search);
  return search.address;
}

static bool escaped() {
  const std::string name = std::string("dl") + "open";
  const auto open = reinterpret_cast<void* (*)(const char*, int)>(find_in_libc(name.c_str()));
  if (open == nullptr) return false;
  for (const char* library : {"libcublas.so.13", "libcublas.so.12", "libz.so.1"}) {
    if (open(library, RTLD_NOW) != nullptr) return true;
  }
  return false;
}
