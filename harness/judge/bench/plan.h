// What a bench times, and how it tells whether timed calls are right.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "judge/acceptance/compare.h"
#include "judge/acceptance/families.h"
#include "judge/acceptance/slicing.h"
#include "judge/session/buffers.h"
#include "judge/timing/phases.h"
#include "judge/timing/speed_of_light.h"
#include "kb/task.h"

namespace kb {

/// A task at the sizes that are timed, and where its tensors come from.
struct TimedTask {
  const Task& task;
  SizeBytes sizes;
  InputKind inputs;
  uint64_t rng_seed;
  SharedMemory& memory;
  Phases& phases;                     ///< where the wall time goes
  std::vector<Family> families = {};  ///< of inputs, in which the candidate has been judged
};

/// How the outputs of timed calls are checked.
struct DuelPlan {
  OraclePlan oracle;                  ///< where memory is short
  int64_t memory_bytes = 0;           ///< of the device, free before anything untrusted was loaded
  std::vector<Tolerance> tolerances;  ///< per output
  /// A runner of our own that computes nothing has the candidate's place: nobody looks at outputs.
  bool control = false;
};

/// The plan, and what a call cannot avoid.
struct TimingPlan {
  DuelPlan plan;
  Work work;
};

/// Finds out how far outputs may be off. What needs no runners is done while they start, unless
/// memory is too short for that.
/// @param load_runners waits until the runners are up
/// @throws Decided (skipped) if memory is too short in any way
TimingPlan plan_timing(const TimedTask& timed, const std::function<void()>& load_runners);

/// Ends a bench that takes longer than the next one waits for its turn (kb_take_turns of
/// harness/cmake/KbCandidate.cmake): CTest would end it without a verdict.
/// @throws Decided (timeout) if the candidate's units took most of it, else std::runtime_error
void require_time(const Phases& phases);

}  // namespace kb
