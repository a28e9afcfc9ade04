// File operations that either happen completely or fail with one clear sentence.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace kb {

/// Replaces `path` by a file with this content; a reader sees the old file or the new one.
/// Throws std::runtime_error, also when the disk is full.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// The whole content of a file. Throws std::runtime_error.
std::string read_file(const std::filesystem::path& path);

/// Removes a file if it is there. Throws std::runtime_error if that is refused.
void remove_file(const std::filesystem::path& path);

/// True if the file system of `directory` has no room left for even a small file.
bool disk_full(const std::filesystem::path& directory);

/// The folder part of a path, "." if it has none.
std::filesystem::path folder_of(const std::filesystem::path& path);

/// A private folder that is removed with everything in it. Not copied: one owner removes it.
class TemporaryDirectory {
 public:
  /// Below $TMPDIR or /tmp. Throws std::runtime_error.
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace kb
