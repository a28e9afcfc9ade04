// What is odd about everything that was timed on one pair of processes.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "judge/bench/chain.h"
#include "judge/bench/pair.h"
#include "judge/bench/plan.h"

namespace kb {

/// The chains of a pair, and what they were timed with.
struct TimedPair {
  const TimedTask& task;
  const DuelPlan& plan;
  Pair& pair;
  std::unique_ptr<Duel>& duel;
  std::vector<Chain*> chains;
  bool capturable;  ///< the candidate's calls can be captured as a graph
};

/// Ends the candidate's process and measures the reference without it. Where only a control can
/// tell, because what is odd rests on how long others took, a control takes the candidate's place:
/// what it shows, too, comes from the reference or the machine, such as a reference of hundreds of
/// short launches. Ends the duel.
/// @return what no honest candidate shows; nothing on the CPU, where the machine's other work is in
/// all times
std::optional<Suspicion> review(TimedPair& timed);

}  // namespace kb
