// A chain is a lane on one pair of processes; its blocks become one benchmark's repetitions.
#include "judge/lanes.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "device/gpu_choice.h"
#include "device/gpu_state.h"
#include "device/peaks_file.h"
#include "judge/expectation.h"
#include "judge/memory.h"
#include "judge/reference_runner.h"
#include "judge/work_count.h"
#include "protocol/futex.h"

namespace kb {
namespace {

constexpr double confidence = 0.99;
constexpr std::array pooled_lanes{"eager", "graph"};
// Launch costs that differ by less than this between the lanes are hidden behind the kernels.
constexpr double same_time = 0.02;

// Functional timing only shows that the path works; one block does.
PairingPolicy policy(int pair) {
  PairingPolicy policy{.confidence = confidence};
  if (is_functional()) {
    policy.min_blocks = policy.max_blocks = 1;
  } else if (pair > 1) {
    policy.min_blocks = policy.max_blocks = 4;  // the spread between pairs decides, not within one
  }
  return policy;
}

// What starts and ends a unit differs between processes by some 6 us, which are 0.2 % of it. On the
// CPU two calls are enough to show that it works.
UnitSize unit_size() {
  return is_functional() ? UnitSize{.seconds = 0, .calls = 2}
                         : UnitSize{.seconds = 3e-3, .calls = 1};
}

// A second look at what the first left undecided, from scratch: three times the blocks and the
// time.
PairingPolicy longer(PairingPolicy policy) {
  policy.min_blocks *= 3;
  policy.max_blocks *= 3;
  policy.max_seconds *= 3;
  policy.half_width /= std::sqrt(3.0);
  return policy;
}

// None on the CPU backend: times mean nothing there, and runners use all cores.
std::optional<Cores> own_cores(const CandidateEntry& entry, const std::vector<int>& allowed) {
  if (is_functional()) return std::nullopt;
  return choose_cores(allowed, position_of_given_gpu(scheduled_gpus(entry.build_dir)));
}

// The blocks go to the JSON file; the console gets one line per lane from the program.
class Quiet final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

double lower_bound(const std::vector<double>& v) { return signed_rank_interval(v, confidence).low; }
double upper_bound(const std::vector<double>& v) {
  return signed_rank_interval(v, confidence).high;
}

// JSON knows no infinity, which the interval of a few blocks has.
bool has_interval(const std::vector<Block>& blocks) {
  return std::isfinite(lower_bound(std::vector<double>(blocks.size())));
}

Json verdicts(const Interval& interval) {
  Json out = Json::object();
  for (const auto& [text, p] :
       {std::pair{"0.5", 0.5}, {"0.8", 0.8}, {"1", 1.0}, {"1.5", 1.5}, {"2", 2.0}}) {
    out[text] = speedup_verdict(interval, p);
  }
  return out;
}

Peaks read_peaks(const std::filesystem::path& path) {
  const Json peaks = read_json(path).at("peaks");
  // Reading, writing and copying differ by a tenth; a floor that a kernel got under would be none.
  double bytes = 0;
  for (const char* kind : {"copy_bytes_per_s", "read_bytes_per_s", "write_bytes_per_s"}) {
    bytes = std::max(bytes, peaks.at(kind).get<double>());
  }
  return {.bytes_per_second = bytes,
          .flops_per_second = peaks.at("fp32_flops_per_s"),
          .tf32_flops_per_second = peaks.at("tf32_flops_per_s"),
          .bf16_flops_per_second = peaks.at("bf16_flops_per_s"),
          .limit_bytes_per_second = peaks.at("limit_bytes_per_s"),
          .limit_flops_per_second = peaks.at("limit_flops_per_s"),
          .l2_bytes = peaks.at("l2_bytes")};
}

}  // namespace

struct Lanes::Chain {
  std::string lane;
  LaunchMode mode;
  int pair;
  Pairing pairing{policy(pair)};
  int64_t calls = 1;                  ///< per unit
  std::optional<double> single_call;  ///< seconds, where a unit has several
  Anomalies anomalies;                ///< of the blocks that count
  Json redone = Json::array();        ///< anomalies of attempts that were thrown away
  bool second_look = false;
  double stalled = 0;  ///< share of the judge's waiting in which its core was taken away
  std::optional<Suspicion> suspicion;
  UnitTimes times;
  ReferenceTimes beside, alone;               ///< while the candidate's process lives, and later
  Json before, after;                         ///< gpu_state()
  std::array<std::vector<double>, 2> clocks;  ///< in MHz, after units of reference and candidate
  std::filesystem::path package;              ///< of AOTInductor

  Baseline baseline() const { return {.lane = lane, .package = package}; }
  /// Whether it starts processes of its own instead of taking over those of the chain before.
  bool own_pair() const { return mode == LaunchMode::stream || baseline().special(); }
  double call_seconds() const { return pairing.candidate_seconds() / static_cast<double>(calls); }
  void start_again(const std::string& why) {
    Json redone_so_far = std::move(redone);
    redone_so_far.push_back(Json::array({why}));
    *this = Chain{.lane = lane, .mode = mode, .pair = pair, .package = package};
    redone = std::move(redone_so_far);
  }
  std::string name() const { return lane + (pair == 1 ? "" : "/pair:" + std::to_string(pair)); }
  Anomalies find_anomalies() const;
};

struct Lanes::Control {
  UnitTimes times;
  ReferenceTimes beside;
};

namespace {

// Other GPU processes than the judge and its two runners.
bool is_busy(const Json& state) {
  return state.is_object() && state["processes"].is_number() && state["processes"] > 3;
}

// The share of the judge's waiting in which its core did something else. Runners' cores are treated
// alike, and units last milliseconds.
bool is_stalled(double share) { return share > 0.01; }

bool is_throttled(const Json& state) { return state.is_object() && !state["throttle"].empty(); }

Json to_json(const ReferenceTimes& times) {
  return {{"unit_ms", 1e3 * times.unit},
          {"empty_us", 1e6 * times.empty},
          {"ready_us", 1e6 * times.ready},
          {"publishing_us", 1e6 * times.publishing}};
}

// In MHz; null where nothing was counted.
Json clock_of(const std::vector<double>& mhz) { return mhz.empty() ? Json() : Json(median(mhz)); }

}  // namespace

Anomalies Lanes::Chain::find_anomalies() const {
  Anomalies found;
  if (is_functional()) return found;
  const auto& [reference, candidate] = clocks;
  if (drifts(pairing.log_ratios())) found.push_back("drift");
  if (scatters(pairing.log_ratios())) found.push_back("bimodal");
  if (is_busy(before) || is_busy(after)) found.push_back("busy");
  if (is_throttled(after) || clock_drops(reference) || clock_drops(candidate)) {
    found.push_back("throttle");
  }
  if (!reference.empty() && !candidate.empty() &&
      clocks_decide(pairing.speedup(), pairing.interval(), median(reference), median(candidate))) {
    found.push_back("clock_skew");
  }
  if (is_stalled(stalled)) found.push_back("stalls");
  return found;
}

Lanes::Lanes(const Task& task, const CandidateEntry& entry, const ProgramOptions& options)
    : task_(task),
      entry_(entry),
      options_(options),
      sizes_(is_functional() ? task.smoke : task.full),
      cores_(own_cores(entry, all_cores_)) {
  for (int pair = 1; pair <= (is_functional() ? 1 : options.pairs); ++pair) {
    for (const char* lane : pooled_lanes) add_chain(lane, pair);
  }
  for (const std::string& lane : entry.lanes) {
    if (!Baseline{.lane = lane}.special()) continue;
    add_chain(lane, 1);
    if (lane == "aoti") chains_.back()->package = package_of(entry, options.contract);
  }
  spawn_pair(chains_.front()->baseline());  // they set CUDA up while this process does
  spawned_ = true;
  gpu_ = own_gpu();
  memory_->finish();  // the first call of ATen's that needs a context
  if (!gpu_.is_null()) {
    const std::filesystem::path peaks = peaks_file(entry.build_dir, gpu_["uuid"]);
    if (!has_peaks(peaks, gpu_)) {
      throw std::runtime_error(
          "what this GPU can do at best is not known, so nothing could be too fast to be true: "
          "run ctest -R '^kb.peaks$' first");
    }
    peaks_ = read_peaks(peaks);
  }
}

Lanes::~Lanes() = default;

void Lanes::add_chain(const std::string& lane, int pair) {
  const LaunchMode mode = lane == "eager" ? LaunchMode::stream : LaunchMode::graph;
  chains_.push_back(std::make_unique<Chain>(Chain{lane, mode, pair}));
}

// Why there is nothing to time against in a lane; "" if there is.
std::string Lanes::why_no_baseline(const Chain& chain) const {
  if (!chain.baseline().special()) return "";
  if (!options_.reference_module.empty()) return "another module stands for the reference";
  if (chain.lane == "library") {
    return work_.library ? "" : "the reference calls no operator of cuBLAS or cuDNN";
  }
  return why_no_package(chain.package, entry_, task_, sizes_, options_.contract,
                        gpu_.is_null() ? "cpu" : gpu_["name"]);
}

void Lanes::spawn_pair(const Baseline& baseline) {
  duel_.reset();  // one pair at a time: the last one's memory and cores are free for the next
  reference_.reset();
  candidate_.reset();
  const std::string schedule = is_functional() ? "forward" : "";
  RunnerOptions reference = reference_runner(options_, baseline);
  if (!options_.reference_module.empty()) {
    reference = candidate_runner(entry_, options_, schedule);
    reference.module = options_.reference_module;
    reference.who = "the reference module";
  }
  RunnerOptions candidate = candidate_runner(entry_, options_, schedule);
  if (cores_) {
    reference.cpu = cores_->reference;
    candidate.cpu = cores_->candidate;
    // Threads that start now, one for what each runner prints, must not wake up on the judge's
    // core.
    pin_to(all_cores_);
  }
  reference_ = std::make_unique<RunnerSession>(reference, *memory_);
  candidate_ = std::make_unique<RunnerSession>(candidate, *memory_);
}

void Lanes::start_pair(const Chain& chain) {
  {
    const auto phase = phases_.in("start");
    if (!std::exchange(spawned_, false)) spawn_pair(chain.baseline());
  }
  if (plan_.tolerances.empty()) make_plan();
  if (cores_) pin_to({cores_->judge});  // CUDA has started its threads, too
  const auto calls = chain.pair > 1 ? std::optional(chains_.front()->calls) : std::nullopt;
  duel_ = std::make_unique<Duel>(task_, sizes_, plan_, options_.input_kind(), options_.seed(),
                                 *memory_, *reference_, *candidate_, unit_size(), calls, phases_);
}

// How outputs are compared, beside runners that are up. What needs none of them is done while they
// start, unless memory is too short for that.
void Lanes::make_plan() {
  constexpr int64_t runners_bytes = int64_t{2} << 30;
  plan_.memory_bytes = memory_->available_bytes() - runners_bytes;
  if (peak_bytes(task_, sizes_) <= plan_.memory_bytes / 4 * 3) study({});
  {
    const auto phase = phases_.in("start");
    for (RunnerSession* runner : {reference_.get(), candidate_.get()}) runner->load();
  }
  plan_.oracle = plan_oracle(task_, sizes_, memory_->available_bytes());
  if (plan_.tolerances.empty()) study(plan_.oracle);
}

// How far outputs may be off, and what a call cannot avoid.
void Lanes::study(const OraclePlan& plan) {
  const auto phase = phases_.in("oracle");
  at::Generator rng = make_rng(memory_->device(), options_.seed());
  {
    Workload workload(task_, sizes_, 1, *memory_);
    workload.refill_weights(options_.input_kind(), rng);
    workload.refill_slot(0, options_.input_kind(), rng);
    work_ = count_work(task_, sizes_, workload.arguments(0));
    const Expectation right(task_, sizes_, workload.arguments(0), plan);
    for (size_t i = 0; i < right.outputs().size(); ++i) {
      plan_.tolerances.push_back(right.tolerance(i));
    }
  }
  memory_->release_unused();
}

UnitTimes Lanes::times(const Chain& chain) const {
  const auto calls = static_cast<double>(chain.calls);
  return {.reference = chain.pairing.reference_seconds(),
          .candidate = chain.pairing.candidate_seconds(),
          .least = peaks_ ? hard_floor(work_, calls, *peaks_) : 0,
          .candidate_stream = duel_->stream_seconds(),
          .beside = duel_->beside_seconds(),
          .reference_lag = reference_lag(chain.pairing.blocks()),
          .ready_before = duel_->ready_before_seconds(),
          .ready_after = duel_->ready_after_seconds(),
          .probe_reference = duel_->probe_reference_seconds(),
          .probe_candidate = duel_->probe_candidate_seconds(),
          .ready_candidate = duel_->ready_candidate_seconds(),
          .publishing_reference = duel_->publishing_reference_seconds(),
          .publishing_candidate = duel_->publishing_candidate_seconds(),
          .calls = chain.calls,
          .recorded = chain.mode == LaunchMode::graph,
          .single_call = chain.single_call};
}

// What is odd about everything that was timed on one pair of processes; ends the pair.
std::optional<Suspicion> Lanes::end_pair(const std::vector<Chain*>& timed) {
  const auto phase = phases_.in("end");
  const int samples = is_functional() ? 1 : 3;
  std::optional<Suspicion> found;
  // What a control might excuse comes last.
  const auto keep_first = [&](std::optional<Suspicion> next) {
    if (!found || (next && found->needs_control && !next->needs_control)) found = std::move(next);
  };
  for (const Chain* chain : timed) keep_first(chain->suspicion);
  candidate_->end();
  // The last first, which is the graph: its memory is free then for the units on the stream.
  for (Chain* chain : std::vector(timed.rbegin(), timed.rend())) {
    const ReferenceTimes alone = chain->alone = duel_->reference_alone(chain->mode, samples);
    if (chain->pair == 1) {
      report_[chain->lane]["reference_beside"] = chain->beside.unit / alone.unit;
      report_[chain->lane]["reference_alone"] = to_json(alone);
    }
    keep_first(slows_reference(chain->beside, alone));
    if (missing_.contains("graph") && chain->mode == LaunchMode::stream && chain->single_call) {
      const double launches =
          duel_->reference_single_call() - alone.unit / static_cast<double>(chain->calls);
      keep_first(shares_calls_on_stream({.candidate = chain->pairing.candidate_seconds(),
                                         .calls = chain->calls,
                                         .single_call = chain->single_call},
                                        launches));
    }
  }
  if (timed.size() == 2) {  // eager and graph, the only lanes that share a pair
    keep_first(faster_on_stream(timed[0]->call_seconds(), timed[1]->call_seconds()));
  }
  printed_ += candidate_->output();
  candidate_.reset();
  // On the CPU the machine's other work is in all times.
  if (is_functional()) found.reset();
  if (found && found->needs_control) found = suspicion_beyond_control(timed);
  duel_.reset();
  return found;
}

// The same reference process, memory and number of calls; only the candidate is another.
Lanes::Control Lanes::measure_control(Chain& chain, RunnerSession& control) {
  constexpr int blocks = 12;
  DuelPlan plan = plan_;
  plan.control = true;
  duel_.reset();
  duel_ = std::make_unique<Duel>(task_, sizes_, plan, options_.input_kind(), options_.seed(),
                                 *memory_, *reference_, control, unit_size(), chain.calls, phases_);
  const std::string why = duel_->select(chain.mode);
  if (!why.empty()) throw ReferenceFailed(why + ", although it could before");
  Chain measured{.lane = chain.lane, .mode = chain.mode, .pair = chain.pair};
  measured.calls = chain.calls;
  for (int i = 0; i < blocks; ++i) measured.pairing.add(duel_->block());
  return {.times = times(measured),
          .beside = duel_->reference_beside(measured.pairing.reference_seconds())};
}

// What is suspicious although a control in the candidate's place does not show it. What it does
// show comes from the reference or the machine, such as a reference of hundreds of short launches.
std::optional<Suspicion> Lanes::suspicion_beyond_control(const std::vector<Chain*>& timed) {
  RunnerOptions options = control_runner(entry_);
  if (cores_) {
    options.cpu = cores_->candidate;
    pin_to(all_cores_);  // as in spawn_pair()
  }
  RunnerSession control(options, *memory_);
  if (cores_) pin_to({cores_->judge});
  std::optional<Suspicion> found;
  for (Chain* chain : timed) {
    const Control shown = measure_control(*chain, control);
    if (!found) found = find_suspicion(chain->times, &shown.times);
    if (!found) found = slows_reference(chain->beside, chain->alone, &shown.beside);
    if (chain->pair != 1) continue;
    report_[chain->lane]["reference_control"] = to_json(shown.beside);
  }
  duel_.reset();  // before the runner that it refers to
  if (found) return found;
  for (Chain* chain : timed) {
    chain->anomalies.push_back("unsteady");
    if (chain->pair == 1) report_[chain->lane]["anomalies"] = chain->anomalies;
  }
  return std::nullopt;
}

// Everything that is timed on one pair of processes. A host that launches slower for some seconds
// makes a reference of a thousand small kernels look slowed, so once is no proof.
void Lanes::run_pair(std::span<const std::unique_ptr<Chain>> chains) {
  constexpr int attempts = 3;
  for (int attempt = 1;; ++attempt) {
    std::vector<Chain*> timed;
    for (const auto& chain : chains) {
      if (!run_chain(*chain)) continue;
      if (chain->pair == 1) report_[chain->lane] = describe(*chain);
      timed.push_back(chain.get());
      if (chain->suspicion && !chain->suspicion->needs_control) break;
    }
    if (timed.empty()) {
      duel_.reset();  // nobody else is to be timed on these processes
      return;
    }
    const bool stalled = std::any_of(timed.begin(), timed.end(),
                                     [](const Chain* chain) { return is_stalled(chain->stalled); });
    const std::optional<Suspicion> suspicion = end_pair(timed);
    if (!suspicion) return;
    // Nor does it help to start the third pair of processes then.
    if (attempt > 1 && stalled) {
      throw std::runtime_error(
          "cores are taken away from what is timed, so nobody can tell whether the candidate "
          "cheats (" +
          suspicion->evidence + "); run it again when nothing else uses this machine");
    }
    if (attempt == attempts) throw Decided(Verdict::cheat, suspicion->evidence);
    for (Chain* chain : timed) {
      if (chain->pair == 1) report_.erase(chain->lane);
      chain->start_again(suspicion->name);
    }
  }
}

// What a special baseline fails in beside an honest candidate must not take the plain one's times.
void Lanes::run_lanes(std::span<const std::unique_ptr<Chain>> chains) {
  Chain& chain = *chains.front();
  if (!chain.baseline().special()) return run_pair(chains);
  const auto leave_out = [&](const std::string& why) {
    missing_[chain.lane] = why;
    report_.erase(chain.lane);
    chain.pairing = Pairing(policy(chain.pair));  // without blocks
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

Json Lanes::speed_of_light() const {
  if (!peaks_ || report_.empty()) return nullptr;
  double best_ms = std::numeric_limits<double>::infinity();
  for (const auto& [lane, report] : report_.items()) {
    best_ms = std::min(best_ms, report["candidate_ms"].get<double>());
  }
  const Floor floor = floor_of(work_, *peaks_);
  return {{"floor_ms", 1e3 * floor.seconds},
          {"fraction", 1e3 * floor.seconds / best_ms},
          {"bound", floor.bound},
          {"bytes", work_.bytes},
          {"flops", work_.flops}};
}

// Runs a chain on a pair of its own or the one at hand. @return false if its lane is missing
bool Lanes::run_chain(Chain& chain) {
  if (chain.pair > 1 && missing_.contains(chain.lane)) return false;
  std::string why = why_no_baseline(chain);
  if (why.empty()) {
    if (duel_ == nullptr || chain.own_pair()) start_pair(chain);
    why = duel_->select(chain.mode);
  }
  const auto could_before = [](const std::string& why) {
    return std::runtime_error(why + ", although it could before; run it again");
  };
  if (!why.empty() && report_.contains(chain.lane)) throw could_before(why);
  if (!why.empty()) {
    missing_[chain.lane] = why;
    return false;
  }
  missing_.erase(chain.lane);  // of an attempt that was thrown away
  run_blocks(chain);
  // The blocks know better than the trials what a call takes. Lanes that share a pair keep its
  // calls.
  constexpr int64_t many = 3;
  const auto calls = static_cast<double>(chain.calls);
  if (chain.own_pair() && duel_->fit_calls(unit_size(), chain.pairing.reference_seconds() / calls,
                                           chain.pairing.candidate_seconds() / calls, many)) {
    chain.pairing = Pairing(policy(chain.pair));
    why = duel_->select(chain.mode);
    if (!why.empty()) throw could_before(why);
    run_blocks(chain);
  }
  const bool undecided = speedup_verdict(chain.pairing.interval(), 1.0) == "UNDECIDED";
  if (undecided && chain.pairing.more_would_tell() && chain.pair == 1 && !is_functional()) {
    if (!chain.anomalies.empty()) chain.redone.push_back(chain.anomalies);
    chain.pairing = Pairing(longer(policy(chain.pair)));
    chain.second_look = true;
    run_blocks(chain);
  }
  chain.beside = duel_->reference_beside(chain.pairing.reference_seconds());
  if (chain.calls > 1) chain.single_call = duel_->single_call();
  if (is_functional()) return true;  // other work of the machine is in all times
  chain.times = times(chain);
  chain.suspicion = find_suspicion(chain.times);
  return true;
}

// Blocks until the pairing has enough. What looks disturbed is done again, three times at most, and
// what was thrown away is on record. What the lane's last blocks showed already, on other processes
// perhaps, would come back.
void Lanes::run_blocks(Chain& chain) {
  constexpr int attempts = 4;
  const Pairing fresh = chain.pairing;
  Anomalies& last = last_anomalies_[chain.lane];
  for (int attempt = 1;; ++attempt) {
    chain.before = gpu_state();
    duel_->restart_clocks();
    const protocol::Polling polled = protocol::polling();
    while (!chain.pairing.converged()) chain.pairing.add(duel_->block());
    chain.after = gpu_state();
    chain.calls = duel_->calls_per_unit();
    chain.stalled = protocol::polling().stalled_since(polled);
    chain.clocks = duel_->clocks();
    chain.anomalies = chain.find_anomalies();
    const Anomalies before = std::exchange(last, chain.anomalies);
    if (last.empty() || attempt == attempts || come_back(before, last)) return;
    chain.redone.push_back(last);
    chain.pairing = fresh;
  }
}

bool Lanes::pool_wanted() const {
  if (!report_.contains("graph")) return true;
  const auto differs = [&](const char* arm) {
    const double stream = report_["eager"][arm], graph = report_["graph"][arm];
    return std::abs(std::log(stream / graph)) > same_time;
  };
  return differs("reference_ms") || differs("candidate_ms");
}

void Lanes::measure() {
  for (auto first = chains_.begin(); first != chains_.end();) {
    const auto end =
        std::find_if(first + 1, chains_.end(), [](const auto& chain) { return chain->own_pair(); });
    if ((*first)->pair == 1 || pool_wanted()) run_lanes({first, end});
    first = end;
  }
  for (const char* lane : pooled_lanes) pool(lane, 1);
  look_again();
}

// What is undecided over several pairs gets a second look from nothing, as over one: twice as many
// fresh pairs, which replace the first.
void Lanes::look_again() {
  std::vector<std::string> undecided;
  for (const auto& [lane, report] : report_.items()) {
    if (report["pairs"] > 1 && report["verdict"]["1"] == "UNDECIDED") undecided.push_back(lane);
  }
  if (undecided.empty()) return;
  for (int pair = options_.pairs + 1; pair <= 3 * options_.pairs; ++pair) {
    const size_t first = chains_.size();
    for (const std::string& lane : undecided) add_chain(lane, pair);
    run_pair(std::span(chains_).subspan(first));
  }
  for (const std::string& lane : undecided) {
    pool(lane, options_.pairs + 1);
    report_[lane]["second_look"] = true;
  }
}

void Lanes::write_benchmarks(const std::string& program, const std::filesystem::path& json) const {
  for (const auto& chain : chains_) {
    const std::vector<Block>& blocks = chain->pairing.blocks();
    if (blocks.empty()) continue;
    auto* lane = benchmark::RegisterBenchmark(
                     (entry_.name + "/" + chain->name()).c_str(),
                     [&blocks, calls = static_cast<double>(chain->calls),
                      next = size_t{0}](benchmark::State& state) mutable {
                       for ([[maybe_unused]] auto _ : state) {
                         const Block& block = blocks.at(next++ % blocks.size());
                         state.SetIterationTime((block.b1 + block.b2) / 2 / calls);
                         state.counters["reference_us"] = 1e6 * (block.a1 + block.a2) / 2 / calls;
                         state.counters["speedup"] = std::exp(block.log_ratio());
                       }
                     })
                     ->UseManualTime()
                     ->Iterations(1)
                     ->Repetitions(static_cast<int>(blocks.size()))
                     ->Unit(benchmark::kMicrosecond)
                     ->ComputeStatistics("hl", hodges_lehmann);
    if (!has_interval(blocks)) continue;
    lane->ComputeStatistics("ci_lo", lower_bound)->ComputeStatistics("ci_hi", upper_bound);
  }
  // Under another name until it is whole: an interrupted run must not leave half a file.
  const std::string fresh = json.string() + ".tmp";
  std::vector<std::string> arguments{program, "--benchmark_out=" + fresh,
                                     "--benchmark_out_format=json"};
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  int argc = static_cast<int>(argv.size());
  benchmark::Initialize(&argc, argv.data());
  Quiet quiet;
  benchmark::RunSpecifiedBenchmarks(&quiet);
  std::filesystem::rename(fresh, json);
}

Json Lanes::describe(const Chain& chain) const {
  const Pairing& pairing = chain.pairing;
  const auto calls = static_cast<double>(chain.calls);
  const Interval interval = pairing.interval();
  Json speedups = Json::array();
  for (const Block& block : pairing.blocks()) speedups.push_back(std::exp(block.log_ratio()));
  return {{"reference_ms", 1e3 * pairing.reference_seconds() / calls},
          {"candidate_ms", 1e3 * pairing.candidate_seconds() / calls},
          {"speedup", pairing.speedup()},
          {"ci_lo", interval.low},
          {"ci_hi", interval.high},
          {"confidence", pairing.confidence()},
          {"pairs", 1},
          {"blocks", pairing.blocks().size()},
          {"block_speedups", speedups},
          {"empty_unit_us",
           {{"reference", 1e6 * duel_->empty_reference()},
            {"candidate", 1e6 * duel_->empty_candidate()}}},
          {"calls_per_unit", chain.calls},
          {"reference_stream_ms", 1e3 * duel_->reference_stream_seconds() / calls},
          {"stream_ms", 1e3 * duel_->stream_seconds() / calls},
          {"reference_ready_us",
           {{"before", 1e6 * duel_->ready_before_seconds()},
            {"after", 1e6 * duel_->ready_after_seconds()}}},
          {"probe_us",
           {{"reference", 1e6 * duel_->probe_reference_seconds()},
            {"candidate", 1e6 * duel_->probe_candidate_seconds()}}},
          {"reference_lag", reference_lag(pairing.blocks())},
          {"candidate_ready_us", 1e6 * duel_->ready_candidate_seconds()},
          {"publishing_us",
           {{"reference", 1e6 * duel_->publishing_reference_seconds()},
            {"candidate", 1e6 * duel_->publishing_candidate_seconds()}}},
          {"reference_beside", nullptr},  // end_pair() knows
          {"reference_alone", nullptr},
          {"reference_control", nullptr},
          {"stalled", chain.stalled},
          {"single_call_ms", chain.single_call ? Json(1e3 * *chain.single_call) : Json()},
          {"anomalies", chain.anomalies},
          {"redone", chain.redone},
          {"second_look", chain.second_look},
          {"sm_mhz",
           {{"reference", clock_of(chain.clocks[0])}, {"candidate", clock_of(chain.clocks[1])}}},
          {"gpu_before", chain.before},
          {"gpu_after", chain.after},
          {"mode", chain.mode == LaunchMode::graph ? "graph" : "stream"},
          {"verdict", verdicts(interval)}};
}

// Where there are several pairs, their pooled estimates replace the first one's: the means of what
// each pair says on the log scale. What only diagnoses stays the first pair's.
void Lanes::pool(const std::string& lane, int first_pair) {
  std::vector<double> speedups, logs, reference_seconds, candidate_seconds;
  Json redone = Json::array();
  std::set<std::string> anomalies;
  for (const auto& chain : chains_) {
    if (chain->lane != lane || chain->pairing.blocks().empty()) continue;
    for (const Json& why : chain->redone) redone.push_back(why);
    anomalies.insert(chain->anomalies.begin(), chain->anomalies.end());
    if (chain->pair < first_pair) continue;
    speedups.push_back(chain->pairing.speedup());
    logs.push_back(std::log(speedups.back()));
    const auto calls = static_cast<double>(chain->calls);
    reference_seconds.push_back(chain->pairing.reference_seconds() / calls);
    candidate_seconds.push_back(chain->pairing.candidate_seconds() / calls);
  }
  if (speedups.size() < 2) return;
  const Interval log_interval = mean_interval(logs, confidence);
  const Interval interval{std::exp(log_interval.low), std::exp(log_interval.high)};
  report_[lane].update({{"reference_ms", 1e3 * geometric_mean(reference_seconds)},
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

std::string Lanes::end() {
  const auto phase = phases_.in("end");
  if (reference_) reference_->end();
  if (candidate_) {  // the last pair was not brought to its end
    candidate_->end();
    printed_ += candidate_->output();
  }
  return printed_;
}

}  // namespace kb
