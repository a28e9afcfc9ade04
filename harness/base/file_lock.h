// A lock on a file that processes share.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

namespace kb {

/// A lock on a file, which the kernel gives back when the process ends, and after what the process
/// has opened later: Linux lets go of the lowest descriptor last. Not copied: it owns one.
class FileLock {
 public:
  /// Waits for the lock on one of the files; `wait` is called between tries and may throw.
  /// @throws std::runtime_error if a file cannot be opened, or its file system knows no locks
  FileLock(const std::vector<std::filesystem::path>& any_of, const std::function<void()>& wait);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  /// Which of the files is locked.
  size_t chosen() const { return chosen_; }

 private:
  int fd_ = -1;
  size_t chosen_ = 0;
};

}  // namespace kb
