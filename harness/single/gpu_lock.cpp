// flock(2) on files in the build folder, which every call for that preset sees.
#include "single/gpu_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "result/files.h"

namespace kb {

namespace fs = std::filesystem;

FileLock::FileLock(const std::vector<fs::path>& any_of, const std::function<void()>& wait) {
  for (;; wait()) {
    for (chosen_ = 0; chosen_ < any_of.size(); ++chosen_) {
      const fs::path& file = any_of[chosen_];
      fd_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
      if (fd_ < 0) {
        throw std::runtime_error("cannot lock " + file.string() + ": " + std::strerror(errno) +
                                 "; the build folder must be writable");
      }
      if (flock(fd_, LOCK_EX | LOCK_NB) == 0) return;
      close(fd_);
      fd_ = -1;
    }
  }
}

FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

GpuSlots gpu_slots(const fs::path& build_dir) {
  GpuSlots slots;
  const Json specification = read_json(build_dir / "gpus.json");
  for (const Json& gpu : specification.at("local").at(0).at("gpus")) {
    slots.ids.push_back(gpu.at("id"));
    slots.files.push_back(build_dir / ("gpu_" + slots.ids.back() + ".lock"));
  }
  return slots;
}

}  // namespace kb
