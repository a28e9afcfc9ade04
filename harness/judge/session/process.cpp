// Processes of a candidate die with their runner: its session is killed, and whatever left the
// session has become a child of this process (PR_SET_CHILD_SUBREAPER) and is found through /proc.
#include "judge/session/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/process_tree.h"
#include "judge/session/cores.h"

namespace kb {
namespace {

constexpr size_t kept_each_end = size_t{64} << 10;

sigset_t interrupts() {
  sigset_t set;
  sigemptyset(&set);
  for (int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, number);
  return set;
}

// On a thread of its own, for a handler may not read /proc.
void die_on_interrupt() {
  const sigset_t set = interrupts();
  int number = 0;
  sigwait(&set, &number);
  for (pid_t pid : descendants_of(getpid())) ::kill(pid, SIGKILL);
  std::signal(number, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  std::raise(number);
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const std::string& s : strings) out.push_back(const_cast<char*>(s.c_str()));
  out.push_back(nullptr);
  return out;
}

// Runners that their owners have not ended. The judge starts and ends them on one thread.
std::set<pid_t>& living() {
  static std::set<pid_t> pids;
  return pids;
}

// Everything below this process that belongs to no living runner: what an ended one left behind.
std::vector<pid_t> strays() {
  std::vector<pid_t> all;
  for (pid_t child : children_of(getpid())) {
    if (living().contains(child)) continue;
    all.push_back(child);
    for (pid_t pid : descendants_of(child)) all.push_back(pid);
  }
  return all;
}

// A copy above every number that the child's own descriptors get, so that none overwrites another.
Descriptor copy_above(int fd, int above) {
  Descriptor copy(fcntl(fd, F_DUPFD_CLOEXEC, above));
  if (copy.get() < 0)
    throw std::runtime_error(std::string("cannot share: ") + std::strerror(errno));
  return copy;
}

// What the child does before it becomes the program. The judge has threads of its own and of the
// GPU's driver, so a plain fork(), which runs their fork handlers, is out.
class SpawnPlan {
 public:
  SpawnPlan(const ChildProcess::Options& options, int output) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    sigset_t ignored;  // by this process
    sigemptyset(&ignored);
    sigaddset(&ignored, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes_, &ignored);
    const int first_free = 3 + static_cast<int>(options.descriptors.size());
    output_ = copy_above(output, first_free);
    for (int fd : options.descriptors) given_.push_back(copy_above(fd, first_free));
    posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    for (int to : {1, 2}) posix_spawn_file_actions_adddup2(&actions_, output_.get(), to);
    for (size_t i = 0; i < given_.size(); ++i) {
      posix_spawn_file_actions_adddup2(&actions_, given_[i].get(), 3 + static_cast<int>(i));
    }
    posix_spawn_file_actions_addclosefrom_np(&actions_, first_free);
    posix_spawn_file_actions_addchdir_np(&actions_, options.directory.c_str());
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  /// @return the child, which has become the program. @throws std::runtime_error
  pid_t start(const ChildProcess::Options& options) const {
    pid_t pid = -1;
    const std::vector<char*> command = pointers(options.command);
    const std::vector<char*> environment = pointers(options.environment);
    const int error =
        posix_spawn(&pid, command[0], &actions_, &attributes_, command.data(), environment.data());
    if (error == 0) return pid;
    throw std::runtime_error("cannot start " + options.command[0] + ": " + std::strerror(error));
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
  Descriptor output_;
  std::vector<Descriptor> given_;
};

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
  output_ = Descriptor(ends[0]);
  const Descriptor input(ends[1]);
  pid_ = SpawnPlan(options, input.get()).start(options);
  living().insert(pid_);
  // Before it has threads of its own: it is only now being loaded.
  if (options.cpu) pin_to({*options.cpu}, pid_);
  try {
    reader_ = std::thread([this] { hear(); });
  } catch (...) {
    kill();
    throw;
  }
}

void ChildProcess::hear() {
  char buffer[1 << 16];
  for (ssize_t n; (n = read(output_.get(), buffer, sizeof buffer)) != 0;) {
    if (n > 0) {
      const std::lock_guard lock(log_mutex_);
      log_.append(buffer, static_cast<size_t>(n));
    }
    if (n < 0 && errno != EINTR) break;
  }
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
  if (output_.get() < 0) return;
  ::kill(-pid_, SIGKILL);
  if (!status_) {
    ::kill(pid_, SIGKILL);
    reap(0);
  }
  living().erase(pid_);
  // Descendants that left the session; a fork bomb needs several rounds.
  for (auto rest = strays(); !rest.empty(); rest = strays()) {
    for (pid_t pid : rest) ::kill(pid, SIGKILL);
    for (pid_t pid : rest) waitpid(pid, nullptr, 0);
  }
  if (reader_.joinable()) reader_.join();
  output_.reset();
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

void own_descendants() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_DUMPABLE, 0);  // no process of the same user may read or trace this one
  const sigset_t set = interrupts();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);  // threads inherit it
  std::thread(die_on_interrupt).detach();
}

}  // namespace kb
