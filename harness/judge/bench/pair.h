// The two processes that are timed against each other.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result/candidate_entry.h"
#include "judge/programs/program.h"
#include "judge/session/baseline.h"
#include "judge/session/buffers.h"
#include "judge/session/cores.h"
#include "judge/session/runner_session.h"

namespace kb {

/// One pair at a time: its processes have the memory and the cores for themselves. On a GPU the
/// judge, the reference and the candidate have a core each, where there are enough; the last two
/// swap theirs from pair to pair.
class Pair {
 public:
  Pair(const CandidateEntry& entry, const ProgramOptions& options, SharedMemory& memory);

  /// Starts both, which set CUDA up while the judge does something else. The next call of start()
  /// takes them over.
  void start_ahead(const Baseline& baseline);
  /// Starts both, unless start_ahead() has.
  void start(const Baseline& baseline);
  /// Waits until both are up and have loaded their modules. @throws Decided
  void load();
  /// Leaves the runners' cores to them. CUDA must have started its threads.
  void pin_judge();

  RunnerSession& reference() { return *reference_; }
  RunnerSession& candidate() { return *candidate_; }
  /// Ends the candidate's process; what it printed is kept.
  void end_candidate();
  /// A runner of our own that computes nothing, in the candidate's place.
  std::unique_ptr<RunnerSession> start_control();
  /// Ends both. @return what the candidates' processes have printed, those of earlier pairs first
  std::string end();

 private:
  void spread();

  const CandidateEntry& entry_;
  const ProgramOptions& options_;
  SharedMemory& memory_;
  const std::vector<int> all_cores_ = allowed_cores();  ///< before this process is pinned
  std::optional<Cores> cores_;
  std::unique_ptr<RunnerSession> reference_, candidate_;
  bool ahead_ = false;   ///< started, and not taken over
  std::string printed_;  ///< by candidates' runners that have ended
};

}  // namespace kb
