// Each library keeps its symbols to itself, so that hundreds with the same names fit in one
// process.
#include "reference/task_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <stdexcept>

namespace kb {

namespace fs = std::filesystem;

std::filesystem::path tasks_folder() {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  return program.parent_path().parent_path() / "lib/tasks";
}

std::optional<std::string> task_name(const fs::path& library) {
  std::string name = library.stem();
  const size_t dot = name.find('.');
  if (dot == std::string::npos) return std::nullopt;
  name[dot] = '/';
  return name;
}

std::vector<std::string> task_names(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& file : fs::directory_iterator(folder)) {
    if (file.path().extension() != ".so") continue;
    if (const auto name = task_name(file)) names.push_back(*name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Task load_task(const fs::path& folder, const std::string& name) {
  std::string file = name;
  std::replace(file.begin(), file.end(), '/', '.');
  const fs::path path = folder / (file + ".so");
  if (!fs::exists(path)) {
    std::string known;
    for (const std::string& n : task_names(folder)) known += "\n  " + n;
    throw std::runtime_error("no task is called '" + name + "'; there are:" + known);
  }
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  auto* entry = reinterpret_cast<Task (*)()>(dlsym(library, "_ZN2kb4taskEv"));  // kb::task()
  if (entry == nullptr) throw std::runtime_error(path.string() + " exports no kb::task()");
  return entry();
}

}  // namespace kb
