// The order of units, and what comes between those that are timed.
#include "judge/bench/duel.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "judge/device/sm_clock.h"
#include "judge/programs/program.h"
#include "judge/timing/statistics.h"

namespace kb {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Of which the median is taken off; on the CPU one shows that it works.
int empty_units() { return times_count() ? 25 : 1; }

}  // namespace

Duel::Duel(const TimedTask& timed, DuelPlan plan, RunnerSession& reference,
           RunnerSession& candidate, UnitSize size, std::optional<int64_t> calls)
    : phases_(timed.phases),
      reference_(Arm::Side::reference, reference, phases_),
      candidate_(Arm::Side::candidate, candidate, phases_),
      calls_(timed, std::move(plan), calls.value_or(1)),
      choices_(timed.rng_seed) {
  {
    const auto phase = phases_.in("start");
    for (RunnerSession* runner : {&reference, &candidate}) runner->load();
  }
  calls_.bind(reference, candidate);
  if (!calls) find_calls(size);
}

void Duel::find_calls(const UnitSize& size) {
  const SlotRange only{0, 1};
  std::vector<double> reference, candidate;
  const int trials = times_count() ? 3 : 1;
  reference_.unit(only);
  candidate_.unit(only);
  for (int i = 0; i < trials; ++i) {
    // What a unit costs without a call would make calls look longer and units come out short.
    reference.push_back(reference_.net_unit(only, reference_.unit({})));
    candidate.push_back(candidate_.net_unit(only, candidate_.unit({})));
  }
  fit_calls(size, median(std::move(reference)), median(std::move(candidate)), 1);
}

bool Duel::fit_calls(const UnitSize& size, double reference, double candidate, int64_t times) {
  const int64_t calls = std::min(size.calls_per_unit(reference, candidate), calls_.most_per_unit());
  if (calls <= times * calls_.per_unit()) return false;
  calls_.allocate(calls);
  calls_.bind(reference_.runner(), candidate_.runner());
  return true;
}

std::string Duel::select(LaunchMode mode) {
  const auto phase = phases_.in("recording");
  reference_.select(mode);
  candidate_.select(mode);
  parts_checked_ = inputs_came_late_ = false;
  blocks_ = 0;
  // A first call with a buffer is none to capture or to time: a candidate sets something up, ATen
  // allocates what it keeps for a slot's outputs. One by one: the time limit is that of a call.
  for (int64_t s = 0; s < calls_.slots(); ++s) {
    if (mode == LaunchMode::stream) reference_.runner().run(s, 1);
    candidate_.runner().run(s, 1);
  }
  calls_.settle();  // the judge's own work would share the device with the first units
  // The empty graph stands in for the unit's fixed cost.
  for (Arm* arm : {&reference_, &candidate_}) {
    if (std::string why = arm->capture({}); !why.empty()) return why;
  }
  const double empty = reference_.measure_empty(empty_units());
  reference_.take_off(empty);
  // Both runners do the same around a unit. What a candidate's takes longer than the reference's
  // over nothing is not taken off, or a candidate that slows its empty units would gain by it.
  constexpr double jitter_seconds = 3e-6;
  candidate_.take_off(std::min(candidate_.measure_empty(empty_units()), empty + jitter_seconds));
  captured_ = random_range(calls_.per_unit());
  for (Arm* arm : {&reference_, &candidate_}) {
    if (std::string why = arm->capture(captured_); !why.empty()) return why;
  }
  warm_up();
  return "";
}

void Duel::restart_samples() { reference_.samples = candidate_.samples = {}; }

SlotRange Duel::random_range(int64_t count) {
  std::uniform_int_distribution<int64_t> first(0, calls_.slots() - count);
  return {first(choices_), count};
}

// The calls of the next unit.
SlotRange Duel::next_range() {
  return reference_.mode() == LaunchMode::graph ? captured_ : random_range(calls_.per_unit());
}

// By time, not by count: clocks and libraries settle over milliseconds, not over calls.
void Duel::warm_up() {
  const double enough_seconds = times_count() ? 0.1 : 0;
  const auto start = Clock::now();
  do {
    reference_.unit(captured_);
    candidate_.unit(captured_);
  } while (seconds_since(start) < enough_seconds);
}

void Duel::verify(SlotRange called) {
  if (!calls_.are_checked()) return;
  {
    const auto phase = phases_.in("checks");
    candidate_.runner().inspect();
  }
  calls_.verify(called);
}

// A part of the calls, chosen after whatever was captured: one that had done its work for another
// leaves an output unwritten here, or writes one that nobody asked for.
void Duel::check_parts_alone() {
  std::uniform_int_distribution<int> dice(1, 4);
  const int64_t calls = calls_.per_unit();
  if (calls == 1 || (std::exchange(parts_checked_, true) && dice(choices_) > 1)) return;
  std::uniform_int_distribution<int64_t> some(1, calls / 2);
  const SlotRange range = random_range(some(choices_));
  candidate_.capture_again(range);
  calls_.renew(range);
  candidate_.unit(range);
  calls_.expect(range);
  verify(range);
  candidate_.capture_again(captured_);
}

// A captured unit keeps its places in memory, and some are faster than others: none may speak for a
// whole chain.
void Duel::capture_elsewhere() {
  const auto phase = phases_.in("recording");
  const SlotRange range = random_range(calls_.per_unit());
  if (range.first == captured_.first) return;
  captured_ = range;
  for (Arm* arm : {&reference_, &candidate_}) arm->capture_again(captured_);
}

Abba Duel::block() {
  constexpr int blocks_of_a_capture = 4;
  require_time(phases_);
  check_parts_alone();
  const bool captured = reference_.mode() == LaunchMode::graph;
  if (captured && ++blocks_ % blocks_of_a_capture == 0) capture_elsewhere();
  // A place in the block for late inputs, in each chain's first block and now and then later.
  std::uniform_int_distribution<int> place(0, std::exchange(inputs_came_late_, true) ? 23 : 2);
  const int late = place(choices_);
  Abba block{};
  block.a1 = reference_unit(reference_.samples.ready);
  if (late == 0) reveal_inputs_late(next_range());
  block.b1 = candidate_unit();
  if (late == 1) reveal_inputs_late(next_range());
  block.b2 = candidate_unit();
  if (late == 2) reveal_inputs_late(next_range());
  block.a2 = reference_unit(reference_.samples.ready_after);
  return block;
}

// The same for both arms, or what comes before a unit would speak for one of them.
double Duel::timed_unit(Arm& arm, std::vector<double>& ready, SlotRange range) {
  calls_.choose_places(range);
  arm.samples.publishing.push_back(calls_.renew(range));
  const double seconds = arm.net_unit(range);
  ready.push_back(arm.ready_seconds());
  after_unit(arm);
  return seconds;
}

// The reference's outputs are not checked.
double Duel::reference_unit(std::vector<double>& ready) {
  return timed_unit(reference_, ready, next_range());
}

// Its inputs come when the reference's unit is over, and its outputs are right before the next one
// begins: what it does in the reference's units is of no use to it.
double Duel::candidate_unit() {
  const SlotRange range = next_range();
  const double seconds = timed_unit(candidate_, candidate_.samples.ready, range);
  calls_.expect(range);
  verify(range);
  calls_.check_unchanged();
  return seconds;
}

// A unit that is not timed but looks like one. Some inputs get their values while the runner gets
// ready, or after it is ready: a candidate that began earlier is wrong. Values that come meanwhile
// cannot be noticed. Values that come afterwards are later than all early work, but the runner
// waits some microseconds longer for them. One call has values of families, so a kernel that is
// careful only where it is not timed fails.
void Duel::reveal_inputs_late(SlotRange range) {
  calls_.draw_mixed(range, choices_);
  const std::function<void()> reveal = calls_.hold_back(range);
  calls_.publish(range);
  std::bernoulli_distribution coin;
  if (coin(choices_)) {
    candidate_.get_ready(reveal);
  } else {
    candidate_.get_ready();
    reveal();
  }
  candidate_.go(range);
  calls_.expect(range);
  verify(range);
}

// Some elements of the outputs as the runner left them; and how long that and a small kernel take,
// while the device's clock is counted.
void Duel::after_unit(Arm& arm) {
  const auto phase = phases_.in("checks");
  UnitSamples& samples = arm.samples;
  const auto start = Clock::now();
  calls_.read_places();
  if (const auto mhz = sm_clock_mhz()) samples.mhz.push_back(*mhz);
  samples.probe.push_back(seconds_since(start));
  samples.stream.push_back(1e-3 * arm.answer().event_ms);
  samples.off_stream.push_back(1e-3 * arm.answer().off_stream_ms);
}

ArmTimes Duel::reference_alone(LaunchMode mode, int samples) {
  RunnerSession& runner = reference_.runner();
  // A graph keeps the memory of its outputs; on a stream each slot's are allocated anew then.
  if (reference_.mode() == LaunchMode::graph && mode == LaunchMode::stream) runner.capture(0, 0);
  if (mode == LaunchMode::stream) runner.run(0, calls_.slots());
  reference_.select(mode);
  std::vector<double> units, ready, publishing;
  for (int i = 0; i < samples; ++i) {
    // All that comes before a unit of a block, so that it waits as long.
    const SlotRange range = next_range();
    publishing.push_back(calls_.renew(range));
    units.push_back(reference_.net_unit(range));
    ready.push_back(reference_.ready_seconds());
  }
  reference_.capture_again({});
  return {.unit = median(std::move(units)),
          .empty = reference_.measure_empty(empty_units()),
          .ready = median(std::move(ready)),
          .publishing = median(std::move(publishing))};
}

// A kernel can tell that it is called alone: where its output lies no longer changes. So each
// sample must be right. What it does while it gets ready is part of the call.
double Duel::single_call() {
  constexpr int samples = 7;
  constexpr double enough_seconds = 1;  // where times count for nothing
  const SlotRange only = random_range(1);
  candidate_.capture_again(only);
  std::uniform_int_distribution<int> any(0, samples - 1);
  const int late = any(choices_);
  calls_.publish(only);  // and poison all others
  const auto start = Clock::now();
  std::vector<double> seconds, ready;
  for (int i = 0; i < samples; ++i) {
    if (i == late) reveal_inputs_late(only);
    calls_.draw(only);
    calls_.publish_slot(only.first);
    seconds.push_back(candidate_.net_unit(only));
    ready.push_back(candidate_.ready_seconds());
    calls_.expect(only);
    calls_.verify_call(only.first);
    if (!times_count() && seconds_since(start) > enough_seconds) break;
  }
  verify(only);
  constexpr double jitter_seconds = 20e-6;
  const double usual = hodges_lehmann(candidate_.samples.ready);
  const double later = median(std::move(ready)) - usual - jitter_seconds;
  return median(std::move(seconds)) + std::max(0.0, later);
}

double Duel::reference_single_call() {
  constexpr int samples = 7;
  const SlotRange only = random_range(1);
  std::vector<double> seconds;
  for (int i = 0; i < samples; ++i) {
    calls_.renew(only);
    seconds.push_back(reference_.net_unit(only));
  }
  return median(std::move(seconds));
}

}  // namespace kb
