// One candidate of the manifest and its result file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result/files.h"
#include "base/result/verdict.h"

namespace kb {

/// What the configure step knows of a candidate. Paths are absolute.
struct CandidateEntry {
  std::string name;
  std::string run;
  std::string sample;  ///< empty if the run has no samples
  int level = 0;
  std::string task;  ///< "019_relu"
  std::string backend;
  std::string contract;              ///< precision contract of the build tree
  std::string sizes;                 ///< its choice of FullSizes
  std::string required_isolation;    ///< "full", or empty for whatever the machine allows
  std::vector<std::string> lanes;    ///< that are timed
  std::string torch;                 ///< LibTorch's version
  std::filesystem::path source_dir;  ///< of the project
  std::filesystem::path build_dir;
  std::filesystem::path source;
  std::filesystem::path module;
  std::filesystem::path build_json;
  std::filesystem::path result;
  std::string library;                         ///< that the run has declared: none, cublas or cudnn
  std::vector<std::filesystem::path> preload;  ///< its files, for the runner
};

/// Finds `name` in a manifest. @throws std::runtime_error if it is not there
CandidateEntry find_candidate(const std::filesystem::path& manifest, const std::string& name);

/// "level1/019_relu", ...: the tasks that are configured.
std::vector<std::string> configured_tasks(const Json& manifest);

/// A result file that the steps build, correct and bench fill in one after the other. Each step
/// replaces the whole file, so that it always stands for one module and one harness.
class ResultFile {
 public:
  explicit ResultFile(CandidateEntry entry);

  /// Starts from nothing: identity, hashes, machine. The first step calls it.
  void begin();
  /// Continues what the earlier step left. @throws std::runtime_error if there is nothing, or if it
  /// belongs to another module or harness; the remedy is to run the `.build` step again
  void resume();

  Json& json() { return json_; }
  const CandidateEntry& entry() const { return entry_; }

  /// Sets stage and verdict (null: not decided yet) and replaces the file. Paths below the project
  /// lose what is the machine's: results are published.
  void save(const std::string& stage, const Json& verdict, const std::string& evidence);

 private:
  CandidateEntry entry_;
  Json json_;
};

/// SHA-256 over what a result depends on besides module and task: programs and libraries that the
/// manifest lists.
std::string harness_sha256(const std::filesystem::path& build_dir);

/// SHA-256 over the text of harness and tasks, the same on every GPU and in every folder.
std::string sources_sha256(const std::filesystem::path& build_dir);

/// env.json as kb.env left it. @throws std::runtime_error saying how to make it
Json read_environment(const std::filesystem::path& build_dir);

/// UUIDs of the GPUs that tests are scheduled on, from env.json; none on the CPU backend.
std::vector<std::string> scheduled_gpus(const std::filesystem::path& build_dir);

}  // namespace kb
