// No source, build tree, home or temporary folder is on the list, and nothing that a program could
// be started from matters: starting programs is denied as well.
#include "sandbox/runner/files.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <link.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/landlock.h"
#include "sandbox/protocol/isolation.h"

namespace kb::runner {
namespace {

int narrower = -1;  // rule set of narrow_files()

// Libraries and the program itself: fault reports read their line tables.
std::vector<std::string> loaded_objects() {
  std::vector<std::string> paths{"/proc/self/exe"};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        if (info->dlpi_name != nullptr && info->dlpi_name[0] == '/') {
          static_cast<std::vector<std::string>*>(out)->push_back(info->dlpi_name);
        }
        return 0;
      },
      &paths);
  return paths;
}

// What /proc says of the machine. Other processes are none of a candidate's business, also where
// they share their numbers with it.
std::vector<std::string> kernel_facts() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::error_code ignored;
    if (entry.is_regular_file(ignored)) paths.push_back(entry.path());
  }
  return paths;
}

SandboxRules rules() {
  SandboxRules rules;
  // The CUDA toolkit under /usr/local is left out: its libraries are none of a candidate's
  // business.
  rules.read_directories = {"/usr/lib", "/usr/lib64", "/lib", "/lib64", "/proc/self", "/proc/sys"};
  rules.read_files = loaded_objects();
  for (std::string& path : kernel_facts()) rules.read_files.push_back(std::move(path));
  rules.read_files.insert(rules.read_files.end(), {"/etc/ld.so.cache", "/etc/localtime",
                                                   "/dev/zero", "/dev/random", "/dev/urandom"});
  return rules;
}

#ifdef KB_CUDA
std::vector<std::string> matching(const char* pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (glob(pattern, 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  return paths;
}

// The driver opens its devices, further libraries besides libcuda, and its kernel's facts.
void add_driver(SandboxRules& rules) {
  // Found with the search path of the runner; afterwards the loader could no longer read it all.
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (link_map* map = nullptr; driver != nullptr && dlinfo(driver, RTLD_DI_LINKMAP, &map) == 0) {
    std::error_code ignored;
    const std::filesystem::path file = std::filesystem::canonical(map->l_name, ignored);
    if (!ignored) rules.read_directories.push_back(file.parent_path());
  }
  rules.read_directories.insert(rules.read_directories.end(),
                                {"/sys", "/etc/nvidia", "/proc/driver"});
  rules.write_directories.push_back("/dev/shm");
  rules.write_files.push_back("/dev/zero");
  for (const char* pattern : {"/dev/nvidia*", "/dev/dxg"}) {
    for (std::string& path : matching(pattern)) rules.write_files.push_back(std::move(path));
  }
}
#endif

}  // namespace

uint32_t hide_files(const std::vector<std::string>& libraries) {
  if (!landlock_available()) return 0;
  // The kernel makes up these folders anew when nobody holds them, and forgets the rules for them.
  open("/proc/self", O_PATH | O_CLOEXEC);
  open("/proc/self/task", O_PATH | O_CLOEXEC);
  try {
    SandboxRules allowed = rules();
    for (const std::filesystem::path library : libraries) {
      allowed.read_directories.push_back(library.parent_path());
      allowed.read_directories.push_back(std::filesystem::canonical(library).parent_path());
    }
#ifdef KB_CUDA
    add_driver(allowed);
    narrower = make_sandbox(allowed);
    allowed.write_files.push_back("/proc/self/task");  // the driver gives its threads names
#endif
    return enter_sandbox(make_sandbox(allowed)) == 0 ? uint32_t{protocol::file_access} : 0;
  } catch (const std::runtime_error&) {
    return 0;
  }
}

bool narrow_files() { return narrower < 0 || enter_sandbox(narrower) == 0; }

}  // namespace kb::runner
