// The lanes of a bench: which baselines a candidate is timed against, and how often.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judge/cores.h"
#include "judge/duel.h"
#include "judge/program.h"
#include "kb/task.h"
#include "result/verdict.h"
#include "timing/anomalies.h"
#include "timing/phases.h"
#include "timing/speed_of_light.h"
#include "timing/suspicions.h"

namespace kb {

/// Times a candidate in every lane. `eager`: calls launched on the stream, as upstream times them;
/// `graph`: both arms recorded as CUDA graphs; `library` and `aoti`: the same against a reference
/// with the libraries at their best, or compiled by AOTInductor. What a launch costs, recorded or
/// not, belongs to the pair of processes and stays for its life, so where the first two lanes
/// differ (launches matter) or a graph cannot be recorded, they are pooled over fresh pairs.
class Lanes {
 public:
  Lanes(const Task& task, const CandidateEntry& entry, const ProgramOptions& options);
  ~Lanes();

  /// Times every lane. @throws Decided if a timed call goes wrong
  void measure();
  /// Writes the blocks as Google Benchmark's JSON: one benchmark per lane and pair, one repetition
  /// per block with the judge's clock as manual time, so that its tools/compare.py reads the file.
  void write_benchmarks(const std::string& program, const std::filesystem::path& json) const;

  /// {"eager": {...}, "graph": {...}}: times per call, speed-up, interval.
  const Json& report() const { return report_; }
  /// {"graph": "why it is missing"}
  const Json& missing() const { return missing_; }
  /// {"floor_ms", "fraction", "bound", "bytes", "flops"} of the fastest lane; null without a GPU.
  Json speed_of_light() const;
  /// Seconds by phase so far: "start" (processes), "inputs" (buffers, fills), "expected" (what
  /// outputs should be), "oracle", "recording", "waking" (before units), "reference" and
  /// "candidate" (units of each arm), "checks", "end" (of processes).
  Phases& phases() { return phases_; }
  const Phases& phases() const { return phases_; }
  /// Ends the runners. @return what the candidate's printed, those of earlier pairs first
  std::string end();

 private:
  struct Chain;
  /// What identical circumstances show with a control in the candidate's place.
  struct Control;
  std::string why_no_baseline(const Chain& chain) const;
  void spawn_pair(const Baseline& baseline);
  void start_pair(const Chain& chain);
  void make_plan();
  void study(const OraclePlan& plan);
  void add_chain(const std::string& lane, int pair);
  void run_lanes(std::span<const std::unique_ptr<Chain>> chains);
  bool run_chain(Chain& chain);
  void run_blocks(Chain& chain);
  Json describe(const Chain& chain) const;
  bool pool_wanted() const;
  void pool(const std::string& lane, int first_pair);
  void look_again();
  UnitTimes times(const Chain& chain) const;
  std::optional<Suspicion> end_pair(const std::vector<Chain*>& timed);
  Control measure_control(Chain& chain, RunnerSession& control);
  std::optional<Suspicion> suspicion_beyond_control(const std::vector<Chain*>& timed);
  void run_pair(std::span<const std::unique_ptr<Chain>> chains);

  const Task& task_;
  const CandidateEntry& entry_;
  const ProgramOptions& options_;
  const SizeBytes& sizes_;                              ///< those that are timed
  const std::vector<int> all_cores_ = allowed_cores();  ///< before this process is pinned
  const std::optional<Cores> cores_;
  Json gpu_;  ///< own_gpu()
  std::unique_ptr<SharedMemory> memory_ = make_shared_memory();
  std::unique_ptr<RunnerSession> reference_, candidate_;
  bool spawned_ = false;  ///< the runners belong to the pair that is about to start
  std::unique_ptr<Duel> duel_;
  std::string printed_;  ///< by candidates' runners that have ended
  std::vector<std::unique_ptr<Chain>> chains_;
  std::map<std::string, Anomalies> last_anomalies_;  ///< by lane
  std::optional<Peaks> peaks_;
  Phases phases_;
  DuelPlan plan_;  ///< make_plan() makes it
  Work work_;      ///< study() counts it
  Json report_ = Json::object();
  Json missing_ = Json::object();
};

}  // namespace kb
