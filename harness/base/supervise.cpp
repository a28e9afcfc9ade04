// Starts the compiler in its own process group, watches time and memory, forwards signals.
#include "base/supervise.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "base/landlock.h"
#include "base/process_tree.h"

namespace kb {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int memory_poll_ms = 20;    // a runaway cc1plus gains about 20 MB in this time
constexpr double grace_s = 2;         // for a compiler to remove its files after SIGTERM
constexpr double reap_timeout_s = 5;  // killed processes that take longer hang in the kernel
// Address space above the resident limit: cicc, cudafe++ and cc1plus were seen to use at most
// 150 MiB more address space than memory.
constexpr uint64_t address_space_slack = 512ull << 20;

sigset_t routed_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&set, signal);
  return set;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void set_limit(int resource, uint64_t value) {
  if (value == unlimited) return;
  rlimit limit;
  getrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
  limit.rlim_max = std::min<rlim_t>(limit.rlim_max, value);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, value);
  setrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
}

// Between fork and exec. Writes errno to `error_fd` if the program cannot be started.
[[noreturn]] void become_program(const Launch& launch, int output_fd, int error_fd, pid_t parent) {
  setpgid(0, 0);
  // If kb_cc is killed the hard way, the compiler driver goes too.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  const sigset_t set = routed_signals();
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  std::signal(SIGXFSZ, SIG_DFL);
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_FSIZE, launch.file_bytes);
  // ThreadSanitizer's programs do not start with any limit of address space, however large.
  const bool limited = launch.memory_bytes != unlimited;
  set_limit(RLIMIT_AS, limited ? launch.memory_bytes + address_space_slack : unlimited);
  if (launch.compiles) {
    be_killed_first();
    // A backstop for grandchildren that outlive a killed kb_cc; the wall limit strikes long before.
    set_limit(RLIMIT_CPU, static_cast<uint64_t>(launch.timeout_s) * 2 + 60);
  }
  const int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(null_fd, STDIN_FILENO);
  dup2(output_fd, STDOUT_FILENO);
  dup2(output_fd, STDERR_FILENO);
  // Descriptors that the build tool leaked into us must not reach the compiler (Linux >= 5.11).
  constexpr unsigned close_on_exec = 4;
  syscall(SYS_close_range, 3u, ~0u, close_on_exec);
  int error = 0;
  if (launch.sandbox_fd >= 0) error = enter_sandbox(launch.sandbox_fd);
  if (error == 0) {
    setenv("TMPDIR", launch.temporary_directory.c_str(), 1);
    std::vector<char*> argv;
    for (const std::string& word : launch.words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    error = errno;
  }
  const ssize_t written = write(error_fd, &error, sizeof error);
  _exit(written == sizeof error ? 127 : 126);
}

class Pipe {
 public:
  Pipe() {
    if (pipe2(fds_.data(), O_CLOEXEC) != 0) {
      throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
    }
  }
  ~Pipe() {
    close_write();
    close(fds_[0]);
  }
  Pipe(const Pipe&) = delete;  // owns two descriptors
  Pipe& operator=(const Pipe&) = delete;

  int read_end() const { return fds_[0]; }
  int write_end() const { return fds_[1]; }
  void close_write() {
    if (fds_[1] >= 0) close(fds_[1]);
    fds_[1] = -1;
  }

 private:
  std::array<int, 2> fds_ = {-1, -1};
};

// The state of one run; its methods are the events of the loop in run_supervised().
class Watch {
 public:
  Watch(const Launch& launch, pid_t main_process)
      : launch_(launch), main_(main_process), start_(Clock::now()) {}

  bool main_ended() const { return main_ended_; }

  void on_signal(const signalfd_siginfo& info) {
    if (info.ssi_signo == SIGCHLD) return;  // it has ended the wait, and on_tick() reaps
    outcome_.interrupted_by = static_cast<int>(info.ssi_signo);
    kill(-main_, outcome_.interrupted_by);
    kill_at_ = std::min(kill_at_, seconds_since(start_) + grace_s);
  }

  void on_tick() {
    // Not only after SIGCHLD: a thread of a library that does not block the signal, such as CUDA's,
    // may take it.
    reap();
    const double now = seconds_since(start_);
    if (now >= launch_.timeout_s && !outcome_.timed_out && !outcome_.over_memory) {
      outcome_.timed_out = true;
      kill_at_ = now;
    }
    if (now >= measure_at_) {
      measure_at_ = now + 1e-3 * memory_poll_ms;
      const uint64_t bytes = resident_bytes(descendants_of(getpid()));
      outcome_.peak_bytes = std::max(outcome_.peak_bytes, bytes);
      if (bytes > launch_.memory_bytes && !outcome_.timed_out) {
        outcome_.over_memory = true;
        kill_at_ = now;
      }
    }
    if (now >= kill_at_) kill_tree();
  }

  // Ends whatever the compiler left behind and collects it.
  Outcome finish() {
    outcome_.seconds = ended_after_;
    const Clock::time_point start = Clock::now();
    while (seconds_since(start) < reap_timeout_s) {
      kill_tree();
      if (reap() == Reaped::none_left) break;
      usleep(1000);
    }
    if (outcome_.peak_bytes > launch_.memory_bytes && !outcome_.timed_out) {
      outcome_.over_memory = true;  // a peak between two polls
    }
    return outcome_;
  }

 private:
  enum class Reaped { some_left, none_left };

  Reaped reap() {
    for (;;) {
      int status = 0;
      rusage usage = {};
      const pid_t pid = wait4(-1, &status, WNOHANG, &usage);
      if (pid < 0) return errno == ECHILD ? Reaped::none_left : Reaped::some_left;
      if (pid == 0) return Reaped::some_left;
      outcome_.cpu_seconds += usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
                              1e-6 * (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
      outcome_.peak_bytes =
          std::max(outcome_.peak_bytes, static_cast<uint64_t>(usage.ru_maxrss) << 10);
      if (pid != main_) continue;
      main_ended_ = true;
      ended_after_ = seconds_since(start_);
      outcome_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
      outcome_.exit_code = WIFSIGNALED(status) ? 128 + outcome_.signal : WEXITSTATUS(status);
    }
  }

  void kill_tree() {
    // Once the leader is reaped its group id stays ours only while a member lives; a group with no
    // member gives ESRCH, and pids are not reused that quickly.
    kill(-main_, SIGKILL);
    for (const pid_t pid : descendants_of(getpid())) kill(pid, SIGKILL);
  }

  const Launch& launch_;
  pid_t main_;
  Clock::time_point start_;
  Outcome outcome_;
  bool main_ended_ = false;
  double ended_after_ = 0;
  double measure_at_ = 0;  // not on every wake-up: a compiler may print many small pieces
  // When to stop waiting for the tree, in seconds from the start.
  double kill_at_ = std::numeric_limits<double>::infinity();
};

enum class Read { some, nothing_now, end };

// One read, so that a program that never stops writing does not keep us from all else.
Read read_some(int fd, const std::function<void(std::string_view)>& on_output) {
  std::array<char, 1 << 16> chunk;
  const ssize_t n = read(fd, chunk.data(), chunk.size());
  if (n == 0) return Read::end;
  if (n < 0) return Read::nothing_now;  // EAGAIN
  on_output({chunk.data(), static_cast<size_t>(n)});
  return Read::some;
}

}  // namespace

SignalRouter::SignalRouter() {
  const sigset_t set = routed_signals();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  fd_ = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  if (fd_ < 0) throw std::runtime_error(std::string("signalfd: ") + std::strerror(errno));
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  // A file size limit of the caller should give us an error to report, not end us.
  std::signal(SIGXFSZ, SIG_IGN);
}

SignalRouter::~SignalRouter() {
  close(fd_);
  const sigset_t set = routed_signals();
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

Outcome run_supervised(const Launch& launch, const SignalRouter& signals,
                       const std::function<void(std::string_view)>& on_output) {
  Pipe output;
  Pipe start_error;
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  if (child == 0) become_program(launch, output.write_end(), start_error.write_end(), parent);
  setpgid(child, child);  // in both, so that neither can be too late
  Watch watch(launch, child);
  output.close_write();
  start_error.close_write();
  int error = 0;
  if (read(start_error.read_end(), &error, sizeof error) == sizeof error) {
    watch.finish();
    throw std::runtime_error("cannot run " + launch.words.front() + ": " + std::strerror(error));
  }
  fcntl(output.read_end(), F_SETFL, O_NONBLOCK);

  bool open = true;
  while (!watch.main_ended()) {
    std::array<pollfd, 2> fds = {pollfd{signals.fd(), POLLIN, 0},
                                 pollfd{open ? output.read_end() : -1, POLLIN, 0}};
    poll(fds.data(), fds.size(), memory_poll_ms);
    if (fds[1].revents != 0) open = read_some(output.read_end(), on_output) != Read::end;
    signalfd_siginfo info;
    while (read(signals.fd(), &info, sizeof info) == sizeof info) watch.on_signal(info);
    watch.on_tick();
  }
  const Outcome outcome = watch.finish();
  // What the pipe still holds; those who wrote it are gone.
  while (open && read_some(output.read_end(), on_output) == Read::some) continue;
  return outcome;
}

}  // namespace kb
