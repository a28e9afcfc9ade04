// A list of what is denied: the driver's own calls change from release to release, and what matters
// is that nothing reaches another process, outlives this one or slows down the judge. Of calls that
// are many calls in one, fcntl() and prctl(), there is a list of what is allowed.
#include "sandbox/runner/system_calls.h"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <initializer_list>
#include <memory>
#include <vector>

#include "sandbox/protocol/isolation.h"

namespace kb::runner {
namespace {

using Filter = std::unique_ptr<void, void (*)(scmp_filter_ctx)>;

// clang-format off
constexpr std::initializer_list<const char*> denied = {
    // Other programs and processes; clone() follows below.
    "execve", "execveat", "fork", "vfork", "ptrace", "process_vm_readv", "process_vm_writev",
    "process_madvise", "process_mrelease", "pidfd_open", "pidfd_getfd", "pidfd_send_signal",
    "kcmp", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "migrate_pages", "move_pages",
    // Networks, and ways to hand descriptors around.
    "socket", "socketpair", "connect", "bind", "listen", "accept", "accept4", "sendto", "sendmsg",
    "sendmmsg", "recvmsg", "recvmmsg",
    // Files come and go with the judge's processes, not with a candidate.
    "creat", "mkdir", "mkdirat", "mknod", "mknodat", "symlink", "symlinkat", "link", "linkat",
    "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "truncate",
    // Landlock knows nothing of a file's mode, owner, times, attributes and readers.
    "chmod", "fchmod", "fchmodat", "chown", "fchown", "lchown", "fchownat", "setxattr", "lsetxattr",
    "fsetxattr", "removexattr", "lremovexattr", "fremovexattr", "utime", "utimes", "futimesat",
    "utimensat", "inotify_init", "inotify_init1", "inotify_add_watch",
    // Memory that other processes can find, and that no limit counts.
    "shmget", "shmat", "shmctl", "semget", "semop", "semtimedop", "semctl", "msgget", "msgsnd",
    "msgrcv", "msgctl", "mq_open", "mq_unlink", "memfd_create", "memfd_secret",
    // Where the judge's and the reference's processes run. Threads inherit the runner's core.
    "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr", "ioprio_set",
    // Namespaces, mounts, the machine as a whole.
    "unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount",
    "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "swapon", "swapoff", "reboot",
    "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "acct",
    "quotactl", "quotactl_fd", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex",
    "sethostname", "setdomainname", "syslog", "name_to_handle_at", "open_by_handle_at",
    "fanotify_init", "lookup_dcookie",
    // Code that runs when nobody has called the candidate: between two units it could load the GPU
    // while the reference is timed.
    "timer_create", "setitimer", "alarm", "setrlimit", "rseq",
    // What keeps the whole machine busy, or memory from everybody else.
    "sync", "syncfs", "fsync", "fdatasync", "sync_file_range", "mlock", "mlock2", "mlockall",
    // Kernel interfaces with a history, and ways around this filter.
    "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter",
    "io_uring_register", "io_setup", "io_submit", "keyctl", "add_key", "request_key", "personality", "modify_ldt",
    "vmsplice", "vhangup"};
// clang-format on

bool deny(const Filter& filter, const char* name) {
  const int number = seccomp_syscall_resolve_name(name);
  if (number == __NR_SCMP_ERROR) return false;  // the library is too old to know it
  // Below zero is what this kind of machine has no number for.
  return number < 0 || seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EPERM), number, 0) == 0;
}

// Calls newer than the library may be. What comes after them is newer than this list.
bool deny_newer(const Filter& filter) {
  constexpr int fchmodat2 = 452, lsm_set_self_attr = 460, setxattrat = 463, end = 512;
  std::vector<int> numbers{fchmodat2, lsm_set_self_attr};
  for (int number = setxattrat; number < end; ++number) numbers.push_back(number);
  return std::all_of(numbers.begin(), numbers.end(), [&](int number) {
    return seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(ENOSYS), number, 0) == 0;
  });
}

bool deny_if(const Filter& filter, int number, scmp_arg_cmp condition, int error = EPERM) {
  return seccomp_rule_add_array(filter.get(), SCMP_ACT_ERRNO(error), number, 1, &condition) == 0;
}

// Denies all values of an argument but these. A filter has no rule for "none of them", so it gets
// one for each block of numbers with the same upper bits that holds none.
bool deny_all_but(const Filter& filter, int number, unsigned argument,
                  const std::vector<uint32_t>& allowed, uint32_t prefix = 0, int free_bits = 32) {
  const auto mask = static_cast<uint32_t>(~((uint64_t{1} << free_bits) - 1));
  const bool holds_some = std::any_of(allowed.begin(), allowed.end(),
                                      [&](uint32_t value) { return (value & mask) == prefix; });
  if (!holds_some) {
    return deny_if(filter, number, SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, mask, prefix));
  }
  if (free_bits == 0) return true;
  const int rest = free_bits - 1;
  return deny_all_but(filter, number, argument, allowed, prefix, rest) &&
         deny_all_but(filter, number, argument, allowed, prefix | uint32_t{1} << rest, rest);
}

// Descriptors and their flags. Not leases, watches, owners and signals of files: a signal is code
// that runs when nobody has called the candidate, and a lease lets another process wait.
const std::vector<uint32_t> allowed_fcntl{F_DUPFD, F_GETFD, F_SETFD,        F_GETFL,
                                          F_SETFL, F_GETLK, F_DUPFD_CLOEXEC};

// Names of threads and of memory, and what a library may ask. The rest of deny_system_calls() and
// deny_new_code() needs PR_SET_SECCOMP and PR_SET_NO_NEW_PRIVS.
constexpr int name_of_memory = 0x53564D41;  // PR_SET_VMA, newer than some headers
const std::vector<uint32_t> allowed_prctl{PR_SET_NAME,     PR_GET_NAME,         PR_GET_DUMPABLE,
                                          PR_GET_SECCOMP,  PR_SET_SECCOMP,      PR_SET_NO_NEW_PRIVS,
                                          PR_CAPBSET_READ, PR_GET_NO_NEW_PRIVS, name_of_memory};

// The kernel looks at the lower half of an argument that is an int.
scmp_arg_cmp is_int(unsigned argument, int value) {
  return SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, UINT32_MAX, static_cast<scmp_datum_t>(value));
}

#ifdef KB_CUDA
// No threads either: the driver has started its own (Candidate's constructor sees to that), and a
// thread of a candidate's could work while it is not its turn.
const scmp_arg_cmp new_tasks = SCMP_A0(SCMP_CMP_MASKED_EQ, 0, 0);
#else
// The CPU layer runs blocks on threads.
const scmp_arg_cmp new_tasks = SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0);
#endif

bool deny_by_arguments(const Filter& filter) {
  const auto self = static_cast<scmp_datum_t>(getpid());
  constexpr scmp_datum_t unnamed = O_TMPFILE & ~O_DIRECTORY;
  return
      // clone3() hides its flags in memory; libc falls back to clone().
      deny_if(filter, SCMP_SYS(clone), new_tasks) &&
      seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0 &&
      // No new files; openat2() hides its flags in memory, and libc does not use it.
      deny_if(filter, SCMP_SYS(open), SCMP_A1(SCMP_CMP_MASKED_EQ, O_CREAT, O_CREAT)) &&
      deny_if(filter, SCMP_SYS(openat), SCMP_A2(SCMP_CMP_MASKED_EQ, O_CREAT, O_CREAT)) &&
      deny_if(filter, SCMP_SYS(open), SCMP_A1(SCMP_CMP_MASKED_EQ, unnamed, unnamed)) &&
      deny_if(filter, SCMP_SYS(openat), SCMP_A2(SCMP_CMP_MASKED_EQ, unnamed, unnamed)) &&
      seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(openat2), 0) == 0 &&
      // No code but what the loader maps from files, and of that no more once the candidate's
      // module is there (deny_new_code()).
      deny_if(filter, SCMP_SYS(mmap),
              SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_WRITE | PROT_EXEC, PROT_WRITE | PROT_EXEC)) &&
      deny_if(filter, SCMP_SYS(mprotect), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC)) &&
      deny_if(filter, SCMP_SYS(pkey_mprotect), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC)) &&
      // The kernel counts such memory as a stack, so RLIMIT_DATA does not limit it.
      deny_if(filter, SCMP_SYS(mmap), SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_GROWSDOWN, MAP_GROWSDOWN)) &&
#ifndef KB_CUDA
      // Shared memory of its own counts against no limit.
      deny_if(
          filter, SCMP_SYS(mmap),
          SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_SHARED | MAP_ANONYMOUS, MAP_SHARED | MAP_ANONYMOUS)) &&
#endif
      // raise() and abort() signal their own process.
      deny_if(filter, SCMP_SYS(kill), SCMP_A0(SCMP_CMP_NE, self)) &&
      deny_if(filter, SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_NE, self)) &&
      deny_if(filter, SCMP_SYS(prlimit64), SCMP_A0(SCMP_CMP_NE, 0)) &&
      // A limit of CPU time ends in a signal: a timer, too. Limits may be read.
      deny_if(filter, SCMP_SYS(prlimit64), SCMP_A2(SCMP_CMP_NE, 0)) &&
      deny_if(filter, SCMP_SYS(setpriority), SCMP_A0(SCMP_CMP_NE, PRIO_PROCESS)) &&
      deny_if(filter, SCMP_SYS(setpriority), SCMP_A1(SCMP_CMP_NE, 0)) &&
      deny_all_but(filter, SCMP_SYS(fcntl), 1, allowed_fcntl) &&
      deny_all_but(filter, SCMP_SYS(prctl), 0, allowed_prctl);
}

// A handler of the candidate's own would put memory behind a wild read and go on, or have the
// kernel call it in the runner's code. The CPU layer's handlers stand by now, and whoever takes
// them away takes away what finds wild accesses: there the attempt is the end. Asking for one is
// allowed.
#ifdef KB_CUDA
constexpr uint32_t on_fault_handler = SCMP_ACT_ERRNO(EPERM);
#else
constexpr uint32_t on_fault_handler = SCMP_ACT_KILL_PROCESS;
#endif

bool deny_fault_handlers(const Filter& filter) {
  constexpr std::array faults{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
  return std::all_of(faults.begin(), faults.end(), [&](int fault) {
    const std::array<scmp_arg_cmp, 2> sets{is_int(0, fault), SCMP_A1(SCMP_CMP_NE, 0)};
    return seccomp_rule_add_array(filter.get(), on_fault_handler, SCMP_SYS(rt_sigaction),
                                  sets.size(), sets.data()) == 0;
  });
}

// CUDA's threads are there already.
bool load_for_all_threads(const Filter& filter) {
  // Kernels before 5.16 slow a filtered process down unless it says that it has no secrets, and the
  // reference's has no filter. Where they do not know that, it is nothing to fail over.
  seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_SSB, 1);
  return seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_TSYNC, 1) == 0 &&
         seccomp_load(filter.get()) == 0;
}

}  // namespace

uint32_t deny_system_calls() {
  const Filter filter(seccomp_init(SCMP_ACT_ALLOW), &seccomp_release);
  if (filter == nullptr) return 0;
  for (const char* name : denied) {
    if (!deny(filter, name)) return 0;
  }
  const bool held = deny_newer(filter) && deny_by_arguments(filter) && load_for_all_threads(filter);
  return held ? uint32_t{protocol::system_calls} : 0;
}

bool deny_new_code() {
  const Filter filter(seccomp_init(SCMP_ACT_ALLOW), &seccomp_release);
  return filter != nullptr &&
         deny_if(filter, SCMP_SYS(mmap), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC)) &&
         // A filter of the candidate's own could have the kernel call it in the runner's calls.
         deny(filter, "seccomp") && deny_if(filter, SCMP_SYS(prctl), is_int(0, PR_SET_SECCOMP)) &&
         deny_fault_handlers(filter) && load_for_all_threads(filter);
}

}  // namespace kb::runner
