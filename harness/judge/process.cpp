// Processes of a candidate die with their runner: its session is killed, and whatever left the
// session has become a child of this process (PR_SET_CHILD_SUBREAPER) and is found through /proc.
#include "judge/process.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace kb {
namespace {

constexpr size_t kept_each_end = size_t{64} << 10;

std::vector<pid_t> children_of(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
  std::vector<pid_t> children;
  for (pid_t child; in >> child;) children.push_back(child);
  return children;
}

void collect(pid_t pid, std::vector<pid_t>& all) {
  for (pid_t child : children_of(pid)) {
    all.push_back(child);
    collect(child, all);
  }
}

void on_interrupt(int signal_number) {
  std::vector<pid_t> all;
  collect(getpid(), all);
  for (pid_t pid : all) ::kill(pid, SIGKILL);
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const std::string& s : strings) out.push_back(const_cast<char*>(s.c_str()));
  out.push_back(nullptr);
  return out;
}

// After fork() in a process with threads only calls that are safe in signal handlers are allowed.
[[noreturn]] void become(const ChildProcess::Options& options, int output, char* const* command,
                         char* const* environment) {
  setsid();
  if (options.cpu) pin_to(*options.cpu);
  const int nothing = open("/dev/null", O_RDONLY);
  // Descriptors move up first, so that no dup2() overwrites one that is still needed.
  constexpr int high = 100;
  int count = 0;
  for (int fd : options.descriptors) dup2(fd, high + count++);
  dup2(nothing, 0);
  dup2(output, 1);
  dup2(output, 2);
  for (int i = 0; i < count; ++i) dup2(high + i, 3 + i);
  close_range(3 + static_cast<unsigned>(count), ~0U, 0);
  if (chdir(options.directory.c_str()) == 0) execve(command[0], command, environment);
  _exit(127);
}

}  // namespace

void CappedLog::append(const char* data, size_t size) {
  const size_t to_head = std::min(size, kept_each_end - head_.size());
  head_.append(data, to_head);
  tail_.append(data + to_head, size - to_head);
  if (tail_.size() > kept_each_end) {
    dropped_ += tail_.size() - kept_each_end;
    tail_.erase(0, tail_.size() - kept_each_end);
  }
}

std::string CappedLog::text() const {
  if (dropped_ == 0) return head_ + tail_;
  return head_ + "\n[... " + std::to_string(dropped_) + " bytes left out ...]\n" + tail_;
}

ChildProcess::ChildProcess(const Options& options) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw std::runtime_error(std::string("cannot create a pipe: ") + std::strerror(errno));
  }
  std::vector<char*> command = pointers(options.command);
  std::vector<char*> environment = pointers(options.environment);
  pid_ = fork();
  if (pid_ == 0) become(options, ends[1], command.data(), environment.data());
  close(ends[1]);
  output_fd_ = ends[0];
  if (pid_ < 0) {
    close(output_fd_);
    throw std::runtime_error("cannot start " + options.command[0] + ": " + std::strerror(errno));
  }
  reader_ = std::thread([this] {
    char buffer[1 << 16];
    for (ssize_t n; (n = read(output_fd_, buffer, sizeof buffer)) != 0;) {
      if (n > 0) {
        const std::lock_guard lock(log_mutex_);
        log_.append(buffer, static_cast<size_t>(n));
      }
      if (n < 0 && errno != EINTR) break;
    }
  });
}

ChildProcess::~ChildProcess() { kill(); }

bool ChildProcess::ended() {
  if (!status_) reap(WNOHANG);
  return status_.has_value();
}

void ChildProcess::reap(int options) {
  int status = 0;
  if (waitpid(pid_, &status, options) == pid_) status_ = status;
}

void ChildProcess::kill() {
  if (output_fd_ < 0) return;
  ::kill(-pid_, SIGKILL);
  if (!status_) {
    ::kill(pid_, SIGKILL);
    reap(0);
  }
  // Descendants that left the session; a fork bomb needs several rounds.
  std::vector<pid_t> rest;
  do {
    rest.clear();
    collect(getpid(), rest);
    for (pid_t pid : rest) ::kill(pid, SIGKILL);
    while (waitpid(-1, nullptr, rest.empty() ? WNOHANG : 0) > 0) continue;
  } while (!rest.empty());
  reader_.join();
  close(output_fd_);
  output_fd_ = -1;
}

std::vector<std::string> ChildProcess::code_files() const {
  pid_t innermost = pid_;
  for (auto next = children_of(innermost); !next.empty(); next = children_of(innermost)) {
    innermost = next.front();
  }
  std::ifstream maps("/proc/" + std::to_string(innermost) + "/maps");
  std::vector<std::string> files;
  for (std::string line; std::getline(maps, line);) {
    // "7f00-7f01 r-xp 00000000 00:01 1024   /usr/lib/libm.so.6"
    const size_t rights = line.find(' ') + 1, path = line.find('/');
    if (path == std::string::npos || line[rights + 2] != 'x') continue;
    if (files.empty() || files.back() != line.substr(path)) files.push_back(line.substr(path));
  }
  return files;
}

std::string ChildProcess::how() const {
  if (!status_) return "is running";
  if (WIFSIGNALED(*status_)) {
    const int number = WTERMSIG(*status_);
    return "was killed by signal " + std::to_string(number) + " (" + strsignal(number) + ")";
  }
  return "exited with code " + std::to_string(WEXITSTATUS(*status_));
}

std::string ChildProcess::output() const {
  const std::lock_guard lock(log_mutex_);
  return log_.text();
}

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

void pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

void own_descendants() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_DUMPABLE, 0);  // no process of the same user may read or trace this one
  for (int number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, on_interrupt);
}

}  // namespace kb
