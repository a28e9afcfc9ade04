// Has the kernel call it when it is not its turn: by a limit of CPU time, a filter that traps the
// runner's own system calls, or a switch that turns them into signals.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/escape.cuh"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool escaped() {
  const rlimit soon{1, 60};
  sock_filter allow{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
  sock_fprog program{1, &allow};
  constexpr int syscall_user_dispatch = 59;
  constexpr int64_t wide = int64_t{1} << 32;  // the kernel drops it, a filter may not
  return syscall(SYS_setrlimit, RLIMIT_CPU, &soon) == 0 ||
         syscall(SYS_prlimit64, 0, RLIMIT_CPU, &soon, nullptr) == 0 ||
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ||
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0 ||
         prctl(syscall_user_dispatch, 1, 0, 0, 0) == 0 ||
         syscall(SYS_prctl, wide | PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ||
         syscall(SYS_prctl, wide | syscall_user_dispatch, 1, 0, 0, 0) == 0 ||
         syscall(SYS_prctl, wide | PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}
