// When a chain of blocks is done again.
#include "judge/bench/chain.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "judge/bench/benchmarks.h"
#include "judge/device/gpu_state.h"
#include "judge/programs/program.h"
#include "judge/timing/statistics.h"
#include "sandbox/protocol/futex.h"

namespace kb {
namespace {

// Other GPU processes than the judge and its two runners.
bool is_busy(const Json& state) {
  return state.is_object() && state["processes"].is_number() && state["processes"] > 3;
}

bool is_throttled(const Json& state) { return state.is_object() && !state["throttle"].empty(); }

Anomalies find_anomalies(const Chain& chain, const std::vector<double>& reference_mhz,
                         const std::vector<double>& candidate_mhz) {
  Anomalies found;
  if (!times_count()) return found;
  const SpeedupEstimate& estimate = chain.estimate;
  if (drifts(estimate.log_ratios())) found.push_back("drift");
  if (scatters(estimate.log_ratios())) found.push_back("bimodal");
  if (is_busy(chain.device.before) || is_busy(chain.device.after)) found.push_back("busy");
  if (is_throttled(chain.device.after) || clock_drops(reference_mhz) ||
      clock_drops(candidate_mhz)) {
    found.push_back("throttle");
  }
  const auto& [reference, candidate] = chain.device.mhz;
  if (reference && candidate &&
      clocks_decide(estimate.speedup(), estimate.interval(), *reference, *candidate)) {
    found.push_back("clock_skew");
  }
  if (is_stalled(chain.device.stalled)) found.push_back("stalls");
  return found;
}

std::optional<double> median_of(const std::vector<double>& mhz) {
  return mhz.empty() ? std::nullopt : std::optional(median(mhz));
}

double hodges_lehmann_or_zero(const std::vector<double>& seconds) {
  return seconds.empty() ? 0 : hodges_lehmann(seconds);
}

ArmTimes arm_times(const Arm& arm, double unit) {
  const UnitSamples& samples = arm.samples;
  return {.unit = unit,
          .empty = arm.empty(),
          .ready = hodges_lehmann_or_zero(samples.ready),
          .ready_after = hodges_lehmann_or_zero(samples.ready_after),
          .probe = hodges_lehmann_or_zero(samples.probe),
          .publishing = hodges_lehmann_or_zero(samples.publishing),
          .stream = hodges_lehmann_or_zero(samples.stream),
          .off_stream = hodges_lehmann_or_zero(samples.off_stream)};
}

// The candidate's follow a unit of the reference and one of its own. So do the reference's.
double ready_difference(const Duel& duel) {
  const UnitSamples& reference = duel.reference().samples;
  const double before = hodges_lehmann_or_zero(reference.ready);
  const double after = hodges_lehmann_or_zero(reference.ready_after);
  return hodges_lehmann_or_zero(duel.candidate().samples.ready) - (before + after) / 2;
}

EstimatePolicy longer(EstimatePolicy policy) {
  policy.pilot_blocks *= 3;
  policy.max_blocks *= 3;
  policy.max_seconds *= 3;
  policy.half_width /= std::sqrt(3.0);
  return policy;
}

}  // namespace

// Functional timing only shows that the path works; one block does.
EstimatePolicy estimate_policy(int pair) {
  EstimatePolicy policy{.confidence = bench_confidence};
  if (!times_count()) {
    policy.pilot_blocks = policy.max_blocks = 1;
  } else if (pair > 1) {  // the spread between pairs decides, not within one
    policy.pilot_blocks = policy.max_blocks = 4;
  }
  return policy;
}

// What starts and ends a unit differs between processes by some 6 us, which are 0.2 % of it. On the
// CPU two calls are enough to show that it works.
UnitSize unit_size() {
  return times_count() ? UnitSize{.seconds = 3e-3, .calls = 1} : UnitSize{.seconds = 0, .calls = 2};
}

void Chain::start_again(const std::string& why) {
  Json redone_so_far = std::move(redone);
  redone_so_far.push_back(Json::array({why}));
  *this = Chain{.lane = lane, .pair = pair, .package = package, .presence = presence};
  redone = std::move(redone_so_far);
}

void run_blocks(Chain& chain, Duel& duel, Benchmarks& benchmarks, Anomalies& last) {
  constexpr int attempts = 4;
  const SpeedupEstimate fresh = chain.estimate;
  chain.times.calls = duel.calls_per_unit();
  for (int attempt = 1;; ++attempt) {
    DeviceFacts& device = chain.device;
    device.before = gpu_state();
    duel.restart_samples();
    const protocol::Polling polled = protocol::polling();
    benchmarks.run(chain, [&] { return duel.block(); });
    chain.estimate.set_ready_difference(ready_difference(duel));
    device.after = gpu_state();
    device.stalled = protocol::polling().stalled_since(polled);
    const std::vector<double>& reference = duel.reference().samples.mhz;
    const std::vector<double>& candidate = duel.candidate().samples.mhz;
    device.mhz = {median_of(reference), median_of(candidate)};
    chain.anomalies = find_anomalies(chain, reference, candidate);
    const Anomalies before = std::exchange(last, chain.anomalies);
    const double shorter =
        std::min(chain.estimate.reference_seconds(), chain.estimate.candidate_seconds());
    if (last.empty() || attempt == attempts || show_again(before, last) ||
        is_power_of_long_units(last, shorter)) {
      return;
    }
    chain.redone.push_back(last);
    chain.estimate = fresh;
  }
}

void look_longer(Chain& chain, Duel& duel, Benchmarks& benchmarks, Anomalies& last) {
  const bool undecided = speedup_verdict(chain.estimate.interval(), 1.0) == "UNDECIDED";
  if (!undecided || !chain.estimate.more_would_tell()) return;
  if (!chain.anomalies.empty()) chain.redone.push_back(chain.anomalies);
  chain.estimate = SpeedupEstimate(longer(estimate_policy(chain.pair)));
  chain.second_look = true;
  run_blocks(chain, duel, benchmarks, last);
}

UnitTimes unit_times(const Chain& chain, const Duel& duel, double least) {
  const SpeedupEstimate& estimate = chain.estimate;
  return {.reference = arm_times(duel.reference(), estimate.reference_seconds()),
          .candidate = arm_times(duel.candidate(), estimate.candidate_seconds()),
          .least = least,
          .reference_lag = reference_lag(estimate.blocks()),
          .calls = duel.calls_per_unit(),
          .captured = chain.mode() == LaunchMode::graph,
          .single_call = chain.times.single_call};
}

}  // namespace kb
