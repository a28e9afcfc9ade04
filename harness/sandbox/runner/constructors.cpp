// In the loader's order: DT_INIT first, then the array from its start.
#include "sandbox/runner/constructors.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <bit>

#include "sandbox/protocol/constructors.h"

namespace kb::runner {
namespace {

using Constructor = void (*)(int, char**, char**);

ElfW(Addr) hidden_value(const link_map& map, int64_t tag) {
  for (const ElfW(Dyn)* entry = map.l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == protocol::hidden_tag(tag)) return entry->d_un.d_ptr;
  }
  return 0;
}

void call(ElfW(Addr) address) {
  static char* no_arguments[] = {nullptr};
  std::bit_cast<Constructor>(address)(0, no_arguments, environ);
}

}  // namespace

void run_constructors(void* module) {
  link_map* map = nullptr;
  if (dlinfo(module, RTLD_DI_LINKMAP, &map) != 0) return;
  if (const ElfW(Addr) init = hidden_value(*map, DT_INIT)) call(map->l_addr + init);
  const auto* array =
      std::bit_cast<const ElfW(Addr)*>(map->l_addr + hidden_value(*map, DT_INIT_ARRAY));
  const size_t count = hidden_value(*map, DT_INIT_ARRAYSZ) / sizeof *array;
  for (size_t i = 0; i < count; ++i) call(array[i]);
}

}  // namespace kb::runner
