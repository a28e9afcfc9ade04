// A runner as a child process: start it, hear its output, end it with everything it started.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "sandbox/protocol/descriptor.h"

namespace kb {

/// The first and the last part of a stream of any length.
class CappedLog {
 public:
  void append(const char* data, size_t size);
  /// At most 128 KiB, with a note in the middle of how much was left out.
  std::string text() const;

 private:
  std::string head_, tail_;
  size_t dropped_ = 0;
};

/// A child process in a session of its own. The destructor kills and reaps it and all it started,
/// and nothing that another one started. For one thread.
class ChildProcess {
 public:
  struct Options {
    std::vector<std::string> command;
    std::vector<std::string> environment;  ///< the whole environment, "NAME=value"
    std::vector<int> descriptors;          ///< become 3, 4, ...; all others are closed
    std::filesystem::path directory;       ///< working directory
    std::optional<int> cpu;                ///< the one core it may use
  };

  /// @throws std::runtime_error if the program cannot be started
  explicit ChildProcess(const Options& options);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;  // one owner reaps the child
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  /// Files that it, or the process that it has become the keeper of, has mapped as code.
  std::vector<std::string> code_files() const;
  /// Whether it has ended by itself; if so, how() tells how.
  bool ended();
  /// Kills the process and every descendant, and waits until they are gone.
  void kill();
  /// "was killed by signal 11 (Segmentation fault)" or "exited with code 3"; once ended.
  std::string how() const;
  /// What it wrote to stdout and stderr so far. Complete once it has been killed.
  std::string output() const;

 private:
  void hear();
  void reap(int options);

  pid_t pid_ = -1;
  Descriptor output_;  ///< what it writes comes out here; none once it is gone
  std::optional<int> status_;
  mutable std::mutex log_mutex_;
  CappedLog log_;
  std::thread reader_;
};

/// Makes orphans of runners children of this process, kills runners when this process is
/// interrupted, and closes its memory to others of the same user. Call once, before this process
/// has threads.
void own_descendants();

}  // namespace kb
