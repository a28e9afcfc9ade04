// Runs a program with limits and takes its whole process tree down with it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kb {

/// A limit that is none: whatever the caller has stays as it is.
inline constexpr uint64_t unlimited = UINT64_MAX;

/// A program to run and the limits it runs under.
struct Launch {
  std::vector<std::string> words;
  std::string temporary_directory;  ///< becomes its TMPDIR
  double timeout_s = 0;
  uint64_t memory_bytes = unlimited;  ///< resident, whole tree
  uint64_t file_bytes = unlimited;    ///< largest file that may be written
  int sandbox_fd = -1;                ///< Landlock rule set to enter, -1 for none
  /// A compiler of a candidate: its CPU time is limited, too, and where memory runs out it is
  /// killed before others. Judges and generators may use many cores, and have their own limits.
  bool compiles = false;
};

/// How a program ended.
struct Outcome {
  int exit_code = 0;  ///< 128 + signal if a signal ended it
  int signal = 0;     ///< 0 if it exited
  bool timed_out = false;
  bool over_memory = false;
  int interrupted_by = 0;  ///< the signal that told us to stop, 0 if none
  double seconds = 0;
  double cpu_seconds = 0;   ///< whole tree
  uint64_t peak_bytes = 0;  ///< largest resident size of the whole tree that was seen
};

/// Routes SIGINT, SIGTERM, SIGHUP and SIGCHLD into a descriptor while it lives, and makes orphans
/// of the program our children. Not copied: the signal mask of the process belongs to one object.
class SignalRouter {
 public:
  SignalRouter();
  ~SignalRouter();
  SignalRouter(const SignalRouter&) = delete;
  SignalRouter& operator=(const SignalRouter&) = delete;

  int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

/// Runs `launch` to its end; stdout and stderr together go to `on_output` as they come. When it
/// returns, no process that the program started is left, whatever happened.
/// Throws std::runtime_error if the program cannot be started.
Outcome run_supervised(const Launch& launch, const SignalRouter& signals,
                       const std::function<void(std::string_view)>& on_output);

}  // namespace kb
