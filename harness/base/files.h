// File operations that either happen completely or fail with one clear sentence.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace kb {

/// A new version of a file, written beside the old one; commit() puts it in its place. A reader
/// sees the one or the other. Every step throws std::runtime_error with the file's name, also when
/// the disk is full. Not copied: it owns a descriptor and the file beside.
class FileReplacement {
 public:
  explicit FileReplacement(std::filesystem::path path);
  ~FileReplacement();  ///< removes what was not committed
  FileReplacement(const FileReplacement&) = delete;
  FileReplacement& operator=(const FileReplacement&) = delete;

  void write(std::string_view bytes);
  /// Waits until what was written is on the disk.
  void sync();
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path fresh_;
  int fd_ = -1;
};

/// All steps of FileReplacement but sync().
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// Opens a regular file for reading, as stdio does; null with errno set where that fails. A pipe,
/// whose opening waits for a writer, and a device, which may have no end, are EINVAL.
std::unique_ptr<FILE, int (*)(FILE*)> open_regular(const std::filesystem::path& path);

/// The whole content of a regular file. Throws std::runtime_error, also when reading stops
/// half-way.
std::string read_text(const std::filesystem::path& path);

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
