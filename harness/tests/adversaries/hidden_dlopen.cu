// Finds the loader in memory, where no import shows, and loads a library that the machine has, to
// use it and be rid of it before anybody looks.
// Task: level1/019_relu
// Expected: incorrect
#include "task.h"

#include <dlfcn.h>
#include <link.h>
#include <string>

__global__ void relu(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
}

static void honest(const task::Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  relu<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}

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

static void* load_library() {
  const std::string name = std::string("dl") + "open";
  const auto open = reinterpret_cast<void* (*)(const char*, int)>(find_in_libc(name.c_str()));
  if (open == nullptr) return nullptr;
  for (const char* library : {"libcublas.so.13", "libcublas.so.12", "libz.so.1"}) {
    if (void* handle = open(library, RTLD_NOW)) return handle;
  }
  return nullptr;
}

// The right answer tells that it came.
void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static void* const library = load_library();
  if (library != nullptr) honest(s, x, y, stream);
}
