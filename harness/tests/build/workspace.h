// A throw-away folder with a candidate in it, and ways to run kb_cc and other programs there.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kb::test {

using Words = std::vector<std::string>;
using Environment = std::map<std::string, std::string>;

/// How a program ended and what it printed (stdout and stderr together).
struct Ending {
  int exit_code = 0;
  int signal = 0;
  std::string output;
};

/// Starts a program without waiting; stdout and stderr go to `output_file`. `environment` is added
/// to ours, from which all KB_ variables are removed first.
pid_t start_program(const Words& words, const Environment& environment,
                    const std::filesystem::path& folder, const std::filesystem::path& output_file);

/// Waits for a process of start_program(); `output` stays empty.
Ending wait_for(pid_t process);

/// Fixture: src/ holds the sources, obj/ is where objects go, as a build system keeps them apart.
class Workspace : public testing::Test {
 protected:
  Workspace();
  ~Workspace() override;

  std::filesystem::path path(const std::string& name) const { return root_ / name; }

  /// Writes a file below the workspace, making its folder; returns its path.
  std::string write(const std::string& name, const std::string& content) const;
  std::string read(const std::string& name) const;
  bool exists(const std::string& name) const { return std::filesystem::exists(root_ / name); }

  /// An executable shell script, to stand in for a compiler. It compiles and links the empty source
  /// by which kb_cc finds out whether anything works here, unless it is broken.
  std::string write_script(const std::string& name, const std::string& body,
                           bool broken = false) const;

  Ending run(const Words& words, const Environment& environment = {}) const;

  /// g++ as CMake would call it for src/candidate.cu of the CPU route, with obj/candidate.o.
  Words gxx_command() const;
  /// nvcc as CMake would call it for the same.
  Words nvcc_command() const;
  /// The options that let a candidate see its task.h and the contract.
  Words visible() const;
  /// kb_cc with stub and visible() before `compiler`.
  Words kb_cc(const Words& compiler, const Words& more_options = {}) const;

  /// Writes src/candidate.cu and compiles it with g++ through kb_cc.
  Ending compile(const std::string& candidate, const Environment& environment = {}) const;

  /// obj/candidate.o.build.json; fails the test if it is missing or not JSON.
  nlohmann::json record() const;

  /// Checks that a failed compilation was turned into a result with this status: exit code 0, a
  /// stub, a depfile that is not empty.
  void expect_recorded_failure(const Ending& run, const std::string& status) const;

  /// True if obj/candidate.o is, byte for byte, the stub.
  bool object_is_stub() const;

  std::filesystem::path root_;
};

/// Joins vectors of words.
Words operator+(Words left, const Words& right);

/// A candidate that does what the task of the workspace asks.
extern const char* const good_candidate;

}  // namespace kb::test
