// Order matters: limits and namespaces while privileges are left, Landlock before any thread
// exists, system calls last. A layer that the machine refuses is left out and reported.
#include "sandbox/runner/sandbox.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "base/landlock.h"
#include "sandbox/protocol/page.h"
#include "sandbox/runner/files.h"
#include "sandbox/runner/namespaces.h"
#include "sandbox/runner/system_calls.h"

namespace kb::runner {
namespace {

using namespace protocol;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// Sanitizers map terabytes of shadow memory.
constexpr bool limit_memory = false;
#else
constexpr bool limit_memory = true;
#endif

#ifdef KB_CUDA
// CUDA's IPC handles name the exporting process by its number, so judge and runner share numbers.
// Nothing is lost that the other layers do not keep: no process can be started, signalled or
// traced.
constexpr bool own_process_numbers = false;
#else
constexpr bool own_process_numbers = true;
#endif

bool limit(__rlimit_resource resource, rlim_t value) {
  rlimit now{};
  getrlimit(resource, &now);
  value = std::min(value, now.rlim_max);
  const rlimit both{value, value};
  return setrlimit(resource, &both) == 0;
}

// Device memory, address space that is only reserved, and what the judge shares do not count.
#ifdef KB_CUDA
constexpr rlim_t private_memory = rlim_t{16} << 30;
constexpr rlim_t largest_file = rlim_t{4} << 30;  // the driver's, in /dev/shm
#else
constexpr rlim_t private_memory = rlim_t{4} << 30;
constexpr rlim_t largest_file = 0;  // also of those that the judge shares
#endif

uint32_t set_limits() {
  bool all = limit(RLIMIT_CORE, 0) && limit(RLIMIT_NOFILE, 1024) && limit(RLIMIT_MSGQUEUE, 0) &&
             limit(RLIMIT_FSIZE, largest_file);
  if (limit_memory) all = all && limit(RLIMIT_DATA, private_memory);
  return all ? limits : 0u;
}

}  // namespace

Isolation enter_sandbox(const std::vector<std::string>& libraries) {
  Isolation isolation;
  isolation.wanted = no_new_privileges | limits | user_namespace | network_namespace |
                     ipc_namespace | (own_process_numbers ? process_namespace : 0u) | file_access |
                     system_calls;
  close_range(module_fd + 1, ~0U, 0);
  be_killed_first();
  isolation.held |= set_limits();
  isolation.held |= enter_namespaces(own_process_numbers);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) isolation.held |= no_new_privileges;
  isolation.held |= hide_files(libraries);
  return isolation;
}

void close_sandbox(Isolation& isolation) {
  if (!narrow_files()) isolation.held &= ~uint32_t{file_access};
  isolation.held |= deny_system_calls();
}

}  // namespace kb::runner
