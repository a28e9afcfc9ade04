// One place for each fact: its name, its unit, what it says, where it comes from.
#include "judge/bench/lane_report.h"

#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "judge/timing/statistics.h"

namespace kb {
namespace {

Json both_us(double reference, double candidate) {
  return {{"reference", 1e6 * reference}, {"candidate", 1e6 * candidate}};
}

Json to_json(const ArmTimes& reference) {
  return {{"unit_ms", 1e3 * reference.unit},
          {"empty_us", 1e6 * reference.empty},
          {"ready_us", 1e6 * reference.ready},
          {"publishing_us", 1e6 * reference.publishing}};
}

Json or_null(const std::optional<double>& value, double factor = 1) {
  return value ? Json(factor * *value) : Json();
}

constexpr std::array table{
    Diagnostic{"anomalies", "", "signs that the blocks should not be trusted as they are",
               [](const Chain& c) { return Json(c.anomalies); }},
    Diagnostic{"calls_per_unit", "", "calls in a unit of either side",
               [](const Chain& c) { return Json(c.times.calls); }},
    Diagnostic{"candidate_ready_us", "us", "the candidate's process getting ready for a unit",
               [](const Chain& c) { return Json(1e6 * c.times.candidate.ready); }},
    Diagnostic{
        "empty_unit_us", "us", "a unit without calls, which is taken off each unit",
        [](const Chain& c) { return both_us(c.times.reference.empty, c.times.candidate.empty); }},
    Diagnostic{"gpu_after", "", "what NVML says after the blocks",
               [](const Chain& c) { return c.device.after; }},
    Diagnostic{"gpu_before", "", "what NVML says before the blocks",
               [](const Chain& c) { return c.device.before; }},
    Diagnostic{
        "mode", "", "how calls are launched: stream or graph",
        [](const Chain& c) { return Json(c.mode() == LaunchMode::graph ? "graph" : "stream"); }},
    Diagnostic{
        "probe_us", "us", "the judge reading some outputs and running a kernel after a unit",
        [](const Chain& c) { return both_us(c.times.reference.probe, c.times.candidate.probe); }},
    Diagnostic{"publishing_us", "us", "the judge bringing new inputs before a unit",
               [](const Chain& c) {
                 return both_us(c.times.reference.publishing, c.times.candidate.publishing);
               }},
    Diagnostic{"redone", "", "anomalies or suspicions of attempts that were thrown away",
               [](const Chain& c) { return c.redone; }},
    Diagnostic{"reference_alone", "", "the reference when the candidate's process has ended",
               [](const Chain& c) { return to_json(c.alone); }},
    Diagnostic{"reference_control", "", "the reference while a control has the candidate's place",
               [](const Chain& c) { return c.control ? to_json(*c.control) : Json(); }},
    Diagnostic{"reference_lag", "", "a unit of the reference after the candidate's over one before",
               [](const Chain& c) { return Json(c.times.reference_lag); }},
    Diagnostic{"reference_ready_us", "us",
               "the reference getting ready before and after units of the candidate",
               [](const Chain& c) {
                 return Json{{"before", 1e6 * c.times.reference.ready},
                             {"after", 1e6 * c.times.reference.ready_after}};
               }},
    Diagnostic{"reference_stream_ms", "ms", "a call of the reference by events on its stream",
               [](const Chain& c) { return Json(1e3 * c.call(c.times.reference.stream)); }},
    Diagnostic{"reference_with_candidate", "",
               "the reference's unit while the candidate's process lives over one without it",
               [](const Chain& c) { return Json(c.times.reference.unit / c.alone.unit); }},
    Diagnostic{"second_look", "", "undecided at first, and measured anew for longer",
               [](const Chain& c) { return Json(c.second_look); }},
    Diagnostic{"single_call_ms", "ms", "a call of the candidate that is alone in its unit",
               [](const Chain& c) { return or_null(c.times.single_call, 1e3); }},
    Diagnostic{"sm_mhz", "MHz", "the device's clock right after a unit, counted by a kernel",
               [](const Chain& c) {
                 return Json{{"reference", or_null(c.device.mhz[0])},
                             {"candidate", or_null(c.device.mhz[1])}};
               }},
    Diagnostic{"stalled", "", "share of the judge's waiting in which its core was taken away",
               [](const Chain& c) { return Json(c.device.stalled); }},
    Diagnostic{"stream_ms", "ms", "a call of the candidate by events on its stream",
               [](const Chain& c) { return Json(1e3 * c.call(c.times.candidate.stream)); }},
};

Json verdicts(const Interval& interval) {
  Json out = Json::object();
  for (const auto& [text, p] :
       {std::pair{"0.5", 0.5}, {"0.8", 0.8}, {"1", 1.0}, {"1.5", 1.5}, {"2", 2.0}}) {
    out[text] = speedup_verdict(interval, p);
  }
  return out;
}

}  // namespace

std::span<const Diagnostic> diagnostics() { return table; }

Json describe(const Chain& chain) {
  const SpeedupEstimate& estimate = chain.estimate;
  const Interval interval = estimate.interval();
  Json speedups = Json::array();
  for (const Abba& block : estimate.blocks()) speedups.push_back(std::exp(block.log_ratio()));
  Json report = {{"reference_ms", 1e3 * chain.call(estimate.reference_seconds())},
                 {"candidate_ms", 1e3 * chain.call(estimate.candidate_seconds())},
                 {"speedup", estimate.speedup()},
                 {"ci_lo", interval.low},
                 {"ci_hi", interval.high},
                 {"confidence", estimate.confidence()},
                 {"pairs", 1},
                 {"blocks", estimate.blocks().size()},
                 {"block_speedups", speedups},
                 {"verdict", verdicts(interval)}};
  for (const Diagnostic& diagnostic : table) report[diagnostic.name] = diagnostic.value(chain);
  return report;
}

void pool(Json& report, const std::vector<const Chain*>& chains, int first_pair) {
  std::vector<double> speedups, logs, reference_seconds, candidate_seconds;
  Json redone = Json::array();
  std::set<std::string> anomalies;
  for (const Chain* chain : chains) {
    if (chain->estimate.blocks().empty()) continue;
    for (const Json& why : chain->redone) redone.push_back(why);
    anomalies.insert(chain->anomalies.begin(), chain->anomalies.end());
    if (chain->pair < first_pair) continue;
    speedups.push_back(chain->estimate.speedup());
    logs.push_back(std::log(speedups.back()));
    reference_seconds.push_back(chain->call(chain->estimate.reference_seconds()));
    candidate_seconds.push_back(chain->call(chain->estimate.candidate_seconds()));
  }
  if (speedups.size() < 2) return;
  const Interval log_interval = mean_interval(logs, bench_confidence);
  const Interval interval{std::exp(log_interval.low), std::exp(log_interval.high)};
  report.update({{"reference_ms", 1e3 * geometric_mean(reference_seconds)},
                 {"candidate_ms", 1e3 * geometric_mean(candidate_seconds)},
                 {"speedup", geometric_mean(speedups)},
                 {"ci_lo", interval.low},
                 {"ci_hi", interval.high},
                 {"pairs", speedups.size()},
                 {"pair_speedups", speedups},
                 {"anomalies", anomalies},
                 {"redone", redone},
                 {"verdict", verdicts(interval)}});
}

}  // namespace kb
