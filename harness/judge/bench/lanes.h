// The lanes of a bench: which baselines a candidate is timed against, and how often.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judge/bench/benchmarks.h"
#include "judge/bench/chain.h"
#include "judge/bench/pair.h"
#include "judge/bench/plan.h"
#include "judge/programs/program.h"
#include "judge/timing/speed_of_light.h"
#include "kb/task.h"

namespace kb {

/// Times a candidate in every lane. `eager`: calls launched on the stream, as upstream times them;
/// `graph`: both arms captured as CUDA graphs; `library` and `aoti`: the same against a reference
/// with the libraries at their best, or compiled by AOTInductor. What a launch costs, captured or
/// not, belongs to the pair of processes and stays for its life, so where the first two lanes
/// differ (launches matter) or a graph cannot be captured, they are pooled over fresh pairs.
class Lanes {
 public:
  /// @param lanes of names()
  /// @param families of inputs that the candidate has been judged with
  Lanes(const Task& task, const CandidateEntry& entry, const ProgramOptions& options,
        const std::vector<std::string>& lanes, std::vector<Family> families,
        Benchmarks& benchmarks);

  /// The lanes in which a candidate can be timed.
  static std::vector<std::string> names(const CandidateEntry& entry);

  /// Times every lane. @throws Decided if a timed call goes wrong
  void measure();

  /// {"eager": {...}, "graph": {...}}: times per call, speed-up, interval.
  const Json& report() const { return reports_.lanes; }
  /// {"graph": "why it is missing"}
  const Json& missing() const { return reports_.missing; }
  /// {"floor_ms", "fraction", "bound", "bytes", "flops"} of the fastest lane; null without a GPU.
  Json speed_of_light() const;
  /// What work_to_json() says of the task at the timed sizes; null if nothing was timed.
  Json work() const;
  /// {"ms", "bytes"}: what prepare() took the first time, and holds; null where there is none.
  Json preparing() const;
  /// All of them; those of missing lanes have no blocks.
  std::vector<const Chain*> chains() const;
  /// Seconds by phase so far: "start" (processes), "inputs" (buffers, fills), "expected" (what
  /// outputs should be), "oracle", "recording", "waking" (before units), "reference" and
  /// "candidate" (units of each arm), "checks", "end" (of processes).
  Phases& phases() { return phases_; }
  const Phases& phases() const { return phases_; }
  /// Ends the runners. @return what the candidate's printed, those of earlier pairs first
  std::string end();

 private:
  /// The GPU that this process uses, as in env.json; null without one. What it does at best.
  struct Device {
    Json gpu;
    std::optional<Peaks> peaks;
  };
  struct Reports {
    Json lanes = Json::object(), missing = Json::object();
    std::map<std::string, Anomalies> last_anomalies;  ///< by lane
  };
  using Chains = std::span<const std::unique_ptr<Chain>>;

  void add_chain(const std::string& lane, int pair);
  std::string why_no_baseline(const Chain& chain) const;
  double least(const Chain& chain) const;
  void start_pair(const Chain& chain);
  void run_pair_or_leave_out(Chains chains);
  void run_pair(Chains chains);
  int attempts_needed(const Suspicion& suspicion, const Chain& chain) const;
  bool run_chain(Chain& chain);
  void refit_calls(Chain& chain);
  bool pool_wanted() const;
  void pool_lane(const std::string& lane, int first_pair);
  void decide_undecided();

  Phases phases_;
  std::unique_ptr<SharedMemory> memory_ = make_shared_memory();
  const TimedTask timed_;
  const CandidateEntry& entry_;
  const ProgramOptions& options_;
  Benchmarks& benchmarks_;
  Pair pair_;
  Device device_;
  std::optional<TimingPlan> planned_;
  std::optional<Preparing> preparing_;  ///< of the first pair
  std::unique_ptr<Duel> duel_;          ///< on the pair, while it is timed
  std::vector<std::unique_ptr<Chain>> chains_;
  Reports reports_;
};

}  // namespace kb
