// Opens the interfaces that exploits of the kernel start from, and cuts the tie to its judge.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/escape.cuh"

#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool escaped() {
  unsigned long context = 0;
  return syscall(SYS_bpf, 0, nullptr, 0) >= 0 || syscall(SYS_io_uring_setup, 4, nullptr) >= 0 ||
         syscall(SYS_userfaultfd, 0) >= 0 || syscall(SYS_unshare, CLONE_NEWUSER) == 0 ||
         syscall(SYS_mount, "none", "/", nullptr, MS_REC, nullptr) == 0 ||
         syscall(SYS_keyctl, 0, -3, 1) >= 0 || syscall(SYS_memfd_create, "x", 0) >= 0 ||
         syscall(SYS_shmget, 0, 4096, 0666) >= 0 || prctl(PR_SET_PDEATHSIG, 0) == 0 ||
         syscall(SYS_io_setup, 1, &context) == 0 || syscall(SYS_sync) == 0 ||
         syscall(SYS_syncfs, 1) == 0 || syscall(SYS_mlock, &context, sizeof context) == 0;
}
