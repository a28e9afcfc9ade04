// Suspicions that need more than one lane, or the reference alone, or a control.
#include "judge/bench/review.h"

#include <string>
#include <utility>

#include "judge/programs/program.h"

namespace kb {
namespace {

// The first that is found; what a control might excuse comes last.
class Found {
 public:
  void add(std::optional<Suspicion> next) {
    const bool worse = next && found_ && found_->needs_control && !next->needs_control;
    if (!found_ || worse) found_ = std::move(next);
  }
  const std::optional<Suspicion>& get() const { return found_; }

 private:
  std::optional<Suspicion> found_;
};

// The same reference process, memory and number of calls; only the candidate is another.
UnitTimes measure_control(const TimedPair& timed, const Chain& chain, RunnerSession& control) {
  constexpr int blocks = 12;
  DuelPlan plan = timed.plan;
  plan.control = true;
  timed.duel.reset();
  timed.duel = std::make_unique<Duel>(timed.task, plan, timed.pair.reference(), control,
                                      unit_size(), chain.times.calls);
  const std::string why = timed.duel->select(chain.mode());
  if (!why.empty()) throw ReferenceFailed(why + ", although it could before");
  Chain measured{.lane = chain.lane, .pair = chain.pair};
  for (int i = 0; i < blocks; ++i) measured.estimate.add(timed.duel->block());
  return unit_times(measured, *timed.duel, /*least=*/0);
}

std::optional<Suspicion> beyond_control(TimedPair& timed) {
  const std::unique_ptr<RunnerSession> control = timed.pair.start_control();
  std::optional<Suspicion> found;
  for (Chain* chain : timed.chains) {
    const UnitTimes shown = measure_control(timed, *chain, *control);
    chain->control = shown.reference;
    if (!found) found = find_suspicion(chain->times, &shown);
    if (!found) {
      found = chain->presence.find(chain->times.reference, chain->alone, &shown.reference);
    }
  }
  timed.duel.reset();  // before the runner that it refers to
  if (found) return found;
  for (Chain* chain : timed.chains) chain->anomalies.push_back("unsteady");
  return std::nullopt;
}

}  // namespace

std::optional<Suspicion> review(TimedPair& timed) {
  const auto phase = timed.task.phases.in("end");
  const int samples = times_count() ? 3 : 1;
  Found found;
  for (const Chain* chain : timed.chains) found.add(chain->suspicion);
  timed.pair.end_candidate();
  // The last first, which is the graph: its memory is free then for the units on the stream.
  for (Chain* chain : std::vector(timed.chains.rbegin(), timed.chains.rend())) {
    chain->alone = timed.duel->reference_alone(chain->mode(), samples);
    found.add(chain->presence.find(chain->times.reference, chain->alone));
    const bool on_stream = chain->mode() == LaunchMode::stream;
    if (!timed.capturable && on_stream && chain->times.single_call) {
      const double launches = timed.duel->reference_single_call() - chain->call(chain->alone.unit);
      found.add(shares_calls_on_stream(chain->times, launches));
    }
  }
  if (timed.chains.size() == 2) {  // eager and graph, the only lanes that share a pair
    const auto call = [](const Chain& chain) { return chain.call(chain.times.candidate.unit); };
    found.add(faster_on_stream(call(*timed.chains[0]), call(*timed.chains[1])));
  }
  if (times_count() && found.get() && found.get()->needs_control) return beyond_control(timed);
  timed.duel.reset();
  return times_count() ? found.get() : std::nullopt;
}

}  // namespace kb
