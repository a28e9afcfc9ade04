// What kb_cc must know about a compiler's command line: the source, the object and the depfile.
#pragma once

#include <string>
#include <vector>

namespace kb {

/// One compilation as the build system asked for it. Paths are as given on the command line.
struct CompileCommand {
  std::vector<std::string> words;  ///< the whole command, compiler first
  std::string source;
  std::string object;
  std::string depfile;         ///< empty: none asked for
  std::string depfile_target;  ///< left side of the rule, escaped as given; empty: the object
  std::vector<std::string> read_files;  ///< forced includes and response files

  /// True if the first word is the CUDA-to-C++ rewriter, whose exit code 3 means "unsupported".
  bool uses_cu2cpp() const;

  /// The programs named by the command without their folders, such as "nvcc" or "cu2cpp g++".
  std::string compiler_name() const;

  /// The programs named by the command as given: the compiler, before it cu2cpp or ccache, and
  /// nvcc's host compiler.
  std::vector<std::string> programs() const;
};

/// Understands the command lines that CMake writes for g++, clang++ and nvcc.
/// Throws std::runtime_error if it is not one `-c` compilation of one source into one `-o` object.
CompileCommand parse_compile_command(std::vector<std::string> words);

/// The last component of a path.
std::string base_name(const std::string& path);

}  // namespace kb
