// LibTorch's own error at the timed sizes is what tolerances follow from.
#include "judge/bench/plan.h"

#include <cmath>
#include <sstream>
#include <stdexcept>

#include "base/result/verdict.h"
#include "judge/acceptance/expectation.h"
#include "judge/acceptance/memory.h"
#include "judge/bench/work_count.h"
#include "judge/session/workload.h"

namespace kb {
namespace {

void measure(const TimedTask& timed, TimingPlan& planned) {
  const auto phase = timed.phases.in("oracle");
  at::Generator rng = make_rng(timed.memory.device(), timed.rng_seed);
  {
    Workload workload(timed.task, timed.sizes, 1, timed.memory);
    workload.refill_weights(timed.inputs, rng);
    workload.refill_slot(0, timed.inputs, rng);
    planned.work = count_work(timed.task, timed.sizes, workload.arguments(0));
    Expectation right(timed.task, timed.sizes, workload.arguments(0), timed.rng_seed,
                      planned.plan.oracle);
    for (size_t i = 0; i < right.outputs().size(); ++i) {
      planned.plan.tolerances.push_back(right.tolerance(i));
    }
  }
  timed.memory.release_unused();
}

}  // namespace

void require_time(const Phases& phases) {
  constexpr double longest_turn = 840;
  const double total = phases.total();
  if (total < longest_turn) return;
  const auto own = phases.seconds().find("candidate");
  const double candidate = own == phases.seconds().end() ? 0 : own->second;
  std::ostringstream text;
  text << "timing took " << std::lround(total) << " s, the candidate's units "
       << std::lround(candidate) << " s of that; a judge has a GPU for " << longest_turn
       << " s at most";
  if (2 * candidate > total) throw Decided(Verdict::timeout, text.str());
  throw std::runtime_error(text.str() + ": set KB_PAIRS=1, or -DKB_SIZES to smaller sizes");
}

TimingPlan plan_timing(const TimedTask& timed, const std::function<void()>& load_runners) {
  constexpr int64_t runners_bytes = int64_t{2} << 30;
  TimingPlan planned;
  DuelPlan& plan = planned.plan;
  plan.memory_bytes = timed.memory.available_bytes() - runners_bytes;
  const bool fits = peak_bytes(timed.task, timed.sizes) <= plan.memory_bytes / 4 * 3;
  if (fits) measure(timed, planned);
  load_runners();
  plan.oracle = plan_oracle(timed.task, timed.sizes, timed.memory.available_bytes());
  if (!fits) measure(timed, planned);
  return planned;
}

}  // namespace kb
