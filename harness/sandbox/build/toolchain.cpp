// Finds compiler installations by where their programs lie.
#include "sandbox/build/toolchain.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace kb {
namespace {

namespace fs = std::filesystem;

// What execvp would run.
fs::path find_program(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    fs::path candidate = fs::path(folder.empty() ? "." : folder) / program;
    if (access(candidate.c_str(), X_OK) == 0 && fs::is_regular_file(candidate)) return candidate;
  }
  return {};
}

// A compiler brings headers or internal programs along; a lone tool does not.
bool is_compiler_prefix(const fs::path& prefix) {
  std::error_code ignored;
  return fs::exists(prefix / "nvvm", ignored) || fs::exists(prefix / "lib/gcc", ignored) ||
         fs::exists(prefix / "lib64/gcc", ignored) || fs::exists(prefix / "lib/clang", ignored);
}

void allow_program(const std::string& program, SandboxRules* rules) {
  const fs::path found = find_program(program);
  if (found.empty()) return;
  rules->read_files.push_back(found);
  // Both the name as given and what it links to: distributions link /usr/local/cuda to a version.
  std::error_code error;
  for (const fs::path& file : {found, fs::canonical(found, error)}) {
    if (file.empty() || file.parent_path().filename() != "bin") continue;
    const fs::path prefix = file.parent_path().parent_path();
    if (prefix.empty() || prefix == "/" || !is_compiler_prefix(prefix)) continue;
    for (const char* part :
         {"bin", "include", "lib", "lib64", "libexec", "nvvm", "targets", "share"}) {
      rules->read_directories.push_back(prefix / part);
    }
    // Assembler, linker and system headers of a compiler that brings its own.
    for (const fs::directory_entry& entry : fs::directory_iterator(prefix, error)) {
      if (entry.path().filename().string().starts_with("x86_64-")) {
        rules->read_directories.push_back(entry.path());
      }
    }
  }
}

}  // namespace

void allow_toolchain(const CompileCommand& command, SandboxRules* rules) {
  // Not /usr as a whole: a checkout may well lie in /usr/src or /usr/local/src.
  for (const char* folder :
       {"/usr/bin", "/usr/include", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32",
        "/usr/libexec", "/usr/local/include", "/usr/x86_64-linux-gnu", "/bin", "/lib", "/lib32",
        "/lib64", "/etc/alternatives", "/etc/ld.so.conf.d"}) {
    rules->read_directories.emplace_back(folder);
  }
  for (const char* file : {"/etc/ld.so.cache", "/etc/ld.so.conf", "/dev/urandom", "/dev/zero"}) {
    rules->read_files.emplace_back(file);
  }
  for (const std::string& program : command.programs()) allow_program(program, rules);
}

}  // namespace kb
