#include "base/machine.h"

#include <sys/random.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace kb {

void require_machine() {
  // The caller's limit of file sizes (ulimit -f) is an error that can be told, not the end.
  std::signal(SIGXFSZ, SIG_IGN);
  if (access("/proc/self/fd", X_OK) != 0) {
    throw std::runtime_error(
        "/proc is not mounted, through which processes are watched: mount -t proc proc /proc");
  }
  char byte = 0;
  if (getrandom(&byte, 1, 0) != 1) {
    throw std::runtime_error(
        "the system call getrandom is refused: allow it in the container's seccomp profile, or use "
        "a newer container runtime");
  }
  try {
    std::thread([] {}).join();
  } catch (const std::system_error& error) {
    throw std::runtime_error(
        std::string("no thread can be started (") + error.code().message() +
        "): raise ulimit -u, or allow the system call clone3 in the container's seccomp profile");
  }
}

}  // namespace kb
