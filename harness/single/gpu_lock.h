// Locks by which several calls share GPUs: one kernel at a time on each.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace kb {

/// A lock on a file, which the kernel gives back when the process ends. Not copied: it owns a
/// descriptor.
class FileLock {
 public:
  /// Waits for the lock; `wait` is called between tries and may throw.
  /// @throws std::runtime_error if the file cannot be opened
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

/// The GPUs of gpus.json, by the names that CTest gives them, and the file to lock for each.
struct GpuSlots {
  std::vector<std::string> ids;
  std::vector<std::filesystem::path> files;
};
GpuSlots gpu_slots(const std::filesystem::path& build_dir);

}  // namespace kb
