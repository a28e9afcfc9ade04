// kb_refuse_call NAME PROGRAM ARGS...: starts a program for which one system call is not permitted,
// as in a container whose profile does not know it.
#include <seccomp.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  const int number = seccomp_syscall_resolve_name(argv[1]);
  if (filter == nullptr || seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 0) != 0 ||
      seccomp_load(filter) != 0) {
    std::fprintf(stderr, "cannot refuse %s\n", argv[1]);
    return 2;
  }
  execvp(argv[2], argv + 2);
  std::perror(argv[2]);
  return 2;
}
