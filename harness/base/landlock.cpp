// Talks to Landlock by system call: libc has no wrappers and distribution headers lag the kernel.
#include "base/landlock.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace kb {
namespace {

// System call numbers are the same on all architectures (they came after the numbers were unified).
constexpr long sys_create_ruleset = 444;
constexpr long sys_add_rule = 445;
constexpr long sys_restrict_self = 446;
constexpr uint32_t ask_for_version = 1;
constexpr int rule_path_beneath = 1;

// include/uapi/linux/landlock.h
struct RulesetAttributes {
  uint64_t handled_access_fs;
  uint64_t handled_access_net;  // version 4
  uint64_t scoped;              // version 6
};
struct __attribute__((packed)) PathBeneath {
  uint64_t allowed_access;
  int32_t parent_fd;
};

enum Access : uint64_t {
  execute = 1u << 0,
  write_file = 1u << 1,
  read_file = 1u << 2,
  read_dir = 1u << 3,
  remove_dir = 1u << 4,
  remove_file = 1u << 5,
  make_dir = 1u << 7,
  make_reg = 1u << 8,
  refer = 1u << 13,      // version 2: rename or link between directories
  truncate = 1u << 14,   // version 3
  ioctl_dev = 1u << 15,  // version 5
};
constexpr uint64_t all_of_version_1 = (1u << 13) - 1;
constexpr uint64_t both_tcp_accesses = 3;
constexpr uint64_t both_scopes = 3;  // abstract unix sockets, signals

int landlock_version() {
  const long version = syscall(sys_create_ruleset, nullptr, size_t{0}, ask_for_version);
  return version < 0 ? 0 : static_cast<int>(version);
}

uint64_t handled_access(int version) {
  uint64_t access = all_of_version_1;
  if (version >= 2) access |= refer;
  if (version >= 3) access |= truncate;
  if (version >= 5) access |= ioctl_dev;
  return access;
}

void allow(int ruleset, const std::string& path, uint64_t access, uint64_t handled) {
  const int fd = open(path.c_str(), O_PATH | O_CLOEXEC);
  if (fd < 0) return;  // what does not exist needs no rule
  struct stat status;
  if (fstat(fd, &status) == 0 && !S_ISDIR(status.st_mode)) {
    access &= execute | write_file | read_file | truncate | ioctl_dev;  // all that a file knows
  }
  const PathBeneath rule = {access & handled, fd};
  const long result = syscall(sys_add_rule, ruleset, rule_path_beneath, &rule, 0u);
  const int error = errno;
  close(fd);
  if (result != 0) {
    throw std::runtime_error("Landlock rule for " + path + ": " + std::strerror(error));
  }
}

}  // namespace

bool landlock_available() { return landlock_version() > 0; }

int make_sandbox(const SandboxRules& rules) {
  const int version = landlock_version();
  RulesetAttributes attributes = {};
  attributes.handled_access_fs = handled_access(version);
  if (version >= 4) attributes.handled_access_net = both_tcp_accesses;
  if (version >= 6) attributes.scoped = both_scopes;
  // Older kernels reject a structure longer than the one they know.
  const size_t bytes = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  const int fd = static_cast<int>(syscall(sys_create_ruleset, &attributes, bytes, 0u));
  if (fd < 0) throw std::runtime_error(std::string("Landlock rule set: ") + std::strerror(errno));
  try {
    const uint64_t handled = attributes.handled_access_fs;
    for (const std::string& path : rules.read_directories) {
      allow(fd, path, execute | read_file | read_dir, handled);
    }
    for (const std::string& path : rules.read_files) allow(fd, path, execute | read_file, handled);
    for (const std::string& path : rules.write_directories) {
      allow(fd, path,
            read_file | write_file | truncate | read_dir | make_reg | make_dir | remove_file |
                remove_dir | refer,
            handled);
    }
    for (const std::string& path : rules.write_files) {
      allow(fd, path, read_file | read_dir | write_file | truncate | ioctl_dev, handled);
    }
    allow(fd, "/dev/null", read_file | write_file | truncate, handled);
  } catch (...) {
    close(fd);
    throw;
  }
  return fd;
}

int enter_sandbox(int ruleset_fd) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  return syscall(sys_restrict_self, ruleset_fd, 0u) == 0 ? 0 : errno;
}

void be_killed_first() {
  const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  [[maybe_unused]] const ssize_t written = write(fd, "1000", 4);
  close(fd);
}

}  // namespace kb
