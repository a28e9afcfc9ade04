// Which chains are timed in which order, and what becomes of their results.
#include "judge/bench/lanes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "judge/bench/lane_report.h"
#include "judge/bench/review.h"
#include "judge/bench/work_count.h"
#include "judge/device/peaks_file.h"

namespace kb {
namespace {

constexpr std::array pooled_lanes{"eager", "graph"};
// Launch costs that differ by less than this between the lanes are hidden behind the kernels.
constexpr double same_time = 0.02;

Peaks read_peaks(const std::filesystem::path& path) {
  const Json peaks = read_json(path).at("peaks");
  return {.bytes_per_second = memory_rate(peaks),
          .flops_per_second = peaks.at("fp32_flops_per_s"),
          .tf32_flops_per_second = peaks.at("tf32_flops_per_s"),
          .bf16_flops_per_second = peaks.at("bf16_flops_per_s"),
          .limit_bytes_per_second = peaks.at("limit_bytes_per_s"),
          .limit_flops_per_second = peaks.at("limit_flops_per_s"),
          .l2_bytes = peaks.at("l2_bytes")};
}

std::optional<Peaks> peaks_of(const Json& gpu, const std::filesystem::path& build_dir) {
  if (gpu.is_null()) return std::nullopt;
  const std::filesystem::path peaks = peaks_file(build_dir, gpu["uuid"]);
  if (!has_peaks(peaks, gpu)) {
    throw std::runtime_error(
        "what this GPU can do at best is not known, so nothing could be too fast to be true: "
        "run ctest -R '^kb.peaks$' first");
  }
  return read_peaks(peaks);
}

std::runtime_error could_before(const std::string& why) {
  return std::runtime_error(why + ", although it could before; run it again");
}

}  // namespace

std::vector<std::string> Lanes::names(const CandidateEntry& entry) {
  std::vector<std::string> names(pooled_lanes.begin(), pooled_lanes.end());
  std::copy_if(entry.lanes.begin(), entry.lanes.end(), std::back_inserter(names),
               [](const std::string& lane) { return Baseline{.lane = lane}.special(); });
  return names;
}

Lanes::Lanes(const Task& task, const CandidateEntry& entry, const ProgramOptions& options,
             const std::vector<std::string>& lanes, std::vector<Family> families,
             Benchmarks& benchmarks)
    : timed_{task,
             times_count() ? task.full : task.smoke,
             options.input_kind(),
             options.seed(),
             *memory_,
             phases_,
             std::move(families)},
      entry_(entry),
      options_(options),
      benchmarks_(benchmarks),
      pair_(entry, options, *memory_) {
  const auto pooled = [](const std::string& lane) { return !Baseline{.lane = lane}.special(); };
  for (int pair = 1; pair <= (times_count() ? options.pairs : 1); ++pair) {
    for (const std::string& lane : lanes) {
      if (pooled(lane)) add_chain(lane, pair);
    }
  }
  for (const std::string& lane : lanes) {
    if (pooled(lane)) continue;
    add_chain(lane, 1);
    if (lane == "aoti") chains_.back()->package = package_of(entry, options.contract);
  }
  pair_.start_ahead(chains_.front()->baseline());  // they set CUDA up while this process does
  device_.gpu = own_gpu();
  memory_->finish();  // the first call of ATen's that needs a context
  device_.peaks = peaks_of(device_.gpu, entry.build_dir);
}

void Lanes::add_chain(const std::string& lane, int pair) {
  chains_.push_back(std::make_unique<Chain>(Chain{.lane = lane, .pair = pair}));
}

std::vector<const Chain*> Lanes::chains() const {
  std::vector<const Chain*> out;
  for (const auto& chain : chains_) out.push_back(chain.get());
  return out;
}

// Why there is nothing to time against in a lane; "" if there is.
std::string Lanes::why_no_baseline(const Chain& chain) const {
  if (!chain.baseline().special()) return "";
  if (!options_.reference_module.empty()) return "another module stands for the reference";
  if (chain.lane == "library") {
    return planned_->work.library ? "" : "the reference calls no operator of cuBLAS or cuDNN";
  }
  return why_no_package(chain.package, entry_, timed_.task, timed_.sizes, options_.contract,
                        device_.gpu.is_null() ? "cpu" : device_.gpu["name"]);
}

// Seconds below which no unit of this chain can be; 0 where the device is not known.
double Lanes::least(const Chain& chain) const {
  if (!device_.peaks) return 0;
  return hard_floor(planned_->work.sure, static_cast<double>(chain.times.calls), *device_.peaks);
}

void Lanes::start_pair(const Chain& chain) {
  duel_.reset();  // before the runners that it refers to
  {
    const auto phase = phases_.in("start");
    pair_.start(chain.baseline());
  }
  if (!planned_) {
    planned_ = plan_timing(timed_, [&] {
      const auto phase = phases_.in("start");
      pair_.load();
    });
  }
  pair_.pin_judge();  // CUDA has started its threads, too
  const auto calls = chain.pair > 1 ? std::optional(chains_.front()->times.calls) : std::nullopt;
  duel_ = std::make_unique<Duel>(timed_, planned_->plan, pair_.reference(), pair_.candidate(),
                                 unit_size(), calls);
  if (!preparing_) preparing_ = duel_->preparing();
}

// Everything that is timed on one pair of processes. A host that launches slower for some seconds
// makes a reference of a thousand small kernels look slowed, so once is no proof.
void Lanes::run_pair(Chains chains) {
  for (int attempt = 1;; ++attempt) {
    std::vector<Chain*> timed;
    for (const auto& chain : chains) {
      if (!run_chain(*chain)) continue;
      timed.push_back(chain.get());
      if (chain->suspicion && !chain->suspicion->needs_control) break;
    }
    if (timed.empty()) {
      duel_.reset();  // nobody else is to be timed on these processes
      return;
    }
    const bool stalled = std::any_of(timed.begin(), timed.end(), [](const Chain* chain) {
      return is_stalled(chain->device.stalled);
    });
    TimedPair pair{.task = timed_,
                   .plan = planned_->plan,
                   .pair = pair_,
                   .duel = duel_,
                   .chains = timed,
                   .capturable = !reports_.missing.contains("graph")};
    const std::optional<Suspicion> suspicion = review(pair);
    if (!suspicion) {
      for (const Chain* chain : timed) {
        if (chain->pair == 1) reports_.lanes[chain->lane] = describe(*chain);
      }
      return;
    }
    // Nor does it help to start the third pair of processes then.
    if (attempt > 1 && stalled) {
      throw std::runtime_error(
          "cores are taken away from what is timed, so nobody can tell whether the candidate "
          "cheats (" +
          suspicion->evidence + "); run it again when nothing else uses this machine");
    }
    if (attempt >= attempts_needed(*suspicion, *timed.front())) {
      throw Decided(Verdict::cheat, suspicion->evidence);
    }
    for (Chain* chain : timed) chain->start_again(suspicion->name);
  }
}

int Lanes::attempts_needed(const Suspicion& suspicion, const Chain& chain) const {
  double captured = 0;  // by the first pair
  for (const auto& other : chains_) {
    if (other->lane == "graph" && other->alone.unit > 0) {
      captured = other->call(other->alone.unit);
      break;
    }
  }
  const bool on_stream = chain.mode() == LaunchMode::stream;
  return needed_attempts(suspicion, on_stream ? chain.call(chain.alone.unit) : 0, captured);
}

// What a special baseline fails in next to an honest candidate must not take the plain one's times.
void Lanes::run_pair_or_leave_out(Chains chains) {
  Chain& chain = *chains.front();
  if (!chain.baseline().special()) return run_pair(chains);
  const auto leave_out = [&](const std::string& why) {
    reports_.missing[chain.lane] = why;
    chain.estimate = SpeedupEstimate(estimate_policy(chain.pair));  // without blocks
    duel_.reset();
  };
  try {
    run_pair(chains);
  } catch (const ReferenceFailed& failure) {
    leave_out(failure.what());
  } catch (const c10::OutOfMemoryError&) {
    leave_out("it leaves the judge too little of the device's memory");
  }
}

// Runs a chain on a pair of its own or the one at hand. @return false if its lane is missing
bool Lanes::run_chain(Chain& chain) {
  Json& missing = reports_.missing;
  if (chain.pair > 1 && missing.contains(chain.lane)) return false;
  std::string why = why_no_baseline(chain);
  if (why.empty()) {
    if (duel_ == nullptr || chain.own_pair()) start_pair(chain);
    why = duel_->select(chain.mode());
  }
  if (!why.empty() && reports_.lanes.contains(chain.lane)) throw could_before(why);
  if (!why.empty()) {
    missing[chain.lane] = why;
    return false;
  }
  missing.erase(chain.lane);  // of an attempt that was thrown away
  Anomalies& last = reports_.last_anomalies[chain.lane];
  run_blocks(chain, *duel_, benchmarks_, last);
  if (chain.own_pair()) refit_calls(chain);
  if (chain.pair == 1 && times_count()) look_longer(chain, *duel_, benchmarks_, last);
  chain.times = unit_times(chain, *duel_, least(chain));
  if (chain.times.calls > 1) chain.times.single_call = duel_->single_call();
  // On the CPU the machine's other work is in all times.
  if (times_count()) chain.suspicion = find_suspicion(chain.times);
  return true;
}

// The blocks know better than the trials what a call takes. Lanes that share a pair keep its calls.
void Lanes::refit_calls(Chain& chain) {
  constexpr int64_t many = 3;
  if (!duel_->fit_calls(unit_size(), chain.call(chain.estimate.reference_seconds()),
                        chain.call(chain.estimate.candidate_seconds()), many)) {
    return;
  }
  chain.estimate = SpeedupEstimate(estimate_policy(chain.pair));
  const std::string why = duel_->select(chain.mode());
  if (!why.empty()) throw could_before(why);
  run_blocks(chain, *duel_, benchmarks_, reports_.last_anomalies[chain.lane]);
}

bool Lanes::pool_wanted() const {
  if (!report().contains("eager") || !report().contains("graph")) return true;
  const auto differs = [&](const char* arm) {
    const double stream = report()["eager"][arm], graph = report()["graph"][arm];
    return std::abs(std::log(stream / graph)) > same_time;
  };
  return differs("reference_ms") || differs("candidate_ms");
}

void Lanes::pool_lane(const std::string& lane, int first_pair) {
  if (!report().contains(lane)) return;
  std::vector<const Chain*> own = chains();
  std::erase_if(own, [&](const Chain* chain) { return chain->lane != lane; });
  pool(reports_.lanes[lane], own, first_pair);
}

void Lanes::measure() {
  for (auto first = chains_.begin(); first != chains_.end();) {
    const auto end = std::find_if(first + 1, chains_.end(), [&](const auto& chain) {
      return chain->own_pair() || chain->pair != (*first)->pair;
    });
    if ((*first)->pair == 1 || pool_wanted()) run_pair_or_leave_out({first, end});
    first = end;
  }
  for (const char* lane : pooled_lanes) pool_lane(lane, 1);
  decide_undecided();
}

// What is undecided over several pairs gets a second look from nothing, as over one: twice as many
// fresh pairs, which replace the first.
void Lanes::decide_undecided() {
  std::vector<std::string> undecided;
  for (const auto& [lane, report] : reports_.lanes.items()) {
    if (report["pairs"] > 1 && report["verdict"]["1"] == "UNDECIDED") undecided.push_back(lane);
  }
  if (undecided.empty()) return;
  for (int pair = options_.pairs + 1; pair <= 3 * options_.pairs; ++pair) {
    const size_t first = chains_.size();
    for (const std::string& lane : undecided) add_chain(lane, pair);
    run_pair(Chains(chains_).subspan(first));
  }
  for (const std::string& lane : undecided) {
    pool_lane(lane, options_.pairs + 1);
    reports_.lanes[lane]["second_look"] = true;
  }
}

Json Lanes::speed_of_light() const {
  if (!device_.peaks || report().empty()) return nullptr;
  double best_ms = std::numeric_limits<double>::infinity();
  for (const auto& [lane, report] : reports_.lanes.items()) {
    best_ms = std::min(best_ms, report["candidate_ms"].get<double>());
  }
  const Floor floor = floor_of(planned_->work, *device_.peaks);
  return {{"floor_ms", 1e3 * floor.seconds},
          {"fraction", 1e3 * floor.seconds / best_ms},
          {"bound", floor.bound},
          {"bytes", planned_->work.bytes},
          {"flops", planned_->work.flops}};
}

Json Lanes::work() const { return planned_ ? work_to_json(planned_->work) : Json(); }

Json Lanes::preparing() const {
  if (!preparing_) return nullptr;
  return {{"ms", 1e3 * preparing_->seconds}, {"bytes", preparing_->held_bytes}};
}

std::string Lanes::end() {
  const auto phase = phases_.in("end");
  return pair_.end();
}

}  // namespace kb
