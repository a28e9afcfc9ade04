// flock(2): of one open file, whoever has it open.
#include "base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

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
      const int reason = errno;
      close(fd_);
      fd_ = -1;
      if (reason != EWOULDBLOCK && reason != EINTR) {
        throw std::runtime_error("cannot lock " + file.string() + ": " + std::strerror(reason) +
                                 "; the build folder must be on a file system with locks");
      }
    }
  }
}

FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace kb
