// Walks /proc/<pid>/task/<tid>/children, which costs a few reads instead of a scan of all
// processes.
#include "base/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string>

namespace kb {
namespace {

std::string read_small_file(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::string text;
  std::array<char, 4096> chunk;
  for (ssize_t n; (n = read(fd, chunk.data(), chunk.size())) > 0;) text.append(chunk.data(), n);
  close(fd);
  return text;
}

}  // namespace

std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> result;
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(tasks.c_str()), &closedir);
  if (!directory) return result;
  while (const dirent* entry = readdir(directory.get())) {
    if (entry->d_name[0] == '.') continue;
    const std::string list = read_small_file(tasks + "/" + entry->d_name + "/children");
    const char* p = list.c_str();
    for (char* end = nullptr;; p = end) {
      const long child = std::strtol(p, &end, 10);
      if (end == p) break;
      result.push_back(static_cast<pid_t>(child));
    }
  }
  return result;
}

std::vector<pid_t> descendants_of(pid_t process) {
  std::vector<pid_t> result = children_of(process);
  // Breadth first; the bound keeps a fork bomb from making this loop endless.
  for (size_t i = 0; i < result.size() && result.size() < 10000; ++i) {
    const std::vector<pid_t> children = children_of(result[i]);
    result.insert(result.end(), children.begin(), children.end());
  }
  return result;
}

uint64_t resident_bytes(const std::vector<pid_t>& processes) {
  static const uint64_t page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t pages = 0;
  for (const pid_t process : processes) {
    const std::string statm = read_small_file("/proc/" + std::to_string(process) + "/statm");
    const size_t space = statm.find(' ');
    if (space != std::string::npos) pages += std::strtoull(statm.c_str() + space, nullptr, 10);
  }
  return pages * page_bytes;
}

}  // namespace kb
