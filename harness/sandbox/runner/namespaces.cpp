// A user namespace comes first: in it any user may create the others, and root is nobody special.
#include "sandbox/runner/namespaces.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>

#include "sandbox/protocol/isolation.h"

namespace kb::runner {
namespace {

using namespace protocol;

bool write_text(const char* path, const std::string& text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(fd);
  return written;
}

// The user keeps its number, so that files and devices stay what they were.
bool enter_user_namespace() {
  const std::string user = std::to_string(geteuid()), group = std::to_string(getegid());
  if (unshare(CLONE_NEWUSER) != 0) return false;
  return write_text("/proc/self/setgroups", "deny") &&
         write_text("/proc/self/uid_map", user + " " + user + " 1") &&
         write_text("/proc/self/gid_map", group + " " + group + " 1");
}

[[noreturn]] void end_like(int status) {
  if (WIFSIGNALED(status)) {
    std::signal(WTERMSIG(status), SIG_DFL);
    std::raise(WTERMSIG(status));
  }
  _exit(WEXITSTATUS(status));
}

int wait_for(pid_t child) {
  int status = SIGKILL;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

// The first process of a namespace ignores signals that it does not handle, abort()'s among them,
// so the runner is the second one. Dies with either of the processes before it.
bool continue_as_second_process() {
  void* shared =
      mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return false;
  int* status = static_cast<int*>(shared);
  *status = SIGKILL;
  const pid_t first = fork();
  if (first < 0) return false;
  if (first > 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    wait_for(first);
    end_like(*status);
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const pid_t second = fork();
  if (second != 0) {
    if (second > 0) *status = wait_for(second);
    _exit(0);
  }
  munmap(shared, sizeof(int));
  return true;
}

bool show_own_processes_only() {
  return mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0;
}

void drop_capabilities() {
  for (unsigned long capability = 0; capability < 64; ++capability) {
    prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  syscall(SYS_capset, &header, none);
}

}  // namespace

uint32_t enter_namespaces(bool own_processes) {
  uint32_t held = 0;
  if (enter_user_namespace()) held |= user_namespace;
  if (unshare(CLONE_NEWNET) == 0) held |= network_namespace;
  if (unshare(CLONE_NEWIPC) == 0) held |= ipc_namespace;
  if (own_processes && unshare(CLONE_NEWPID | CLONE_NEWNS) == 0 && continue_as_second_process() &&
      show_own_processes_only()) {
    held |= process_namespace;
  }
  drop_capabilities();
  return held;
}

}  // namespace kb::runner
