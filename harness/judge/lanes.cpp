// A chain is a lane on one pair of processes; its blocks become one benchmark's repetitions.
#include "judge/lanes.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "device/gpu_state.h"
#include "device/peaks.h"
#include "judge/memory.h"
#include "judge/reference_runner.h"
#include "timing/anomalies.h"

namespace kb {
namespace {

constexpr double confidence = 0.99;
constexpr int pairs = 5;
// Launch costs that differ by less than this between the lanes are hidden behind the kernels.
constexpr double same_time = 0.02;

// Functional timing only shows that the path works; its few blocks decide nothing.
PairingPolicy policy(int pair) {
  PairingPolicy policy{.confidence = confidence};
  if (is_functional()) {
    policy.min_blocks = policy.max_blocks = 8;
  } else if (pair > 1) {
    policy.min_blocks = policy.max_blocks = 6;  // the spread between pairs decides, not within one
  }
  return policy;
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

// The number of this GPU among those that tests are scheduled on.
size_t position(const Json& gpu, const Json& gpus) {
  size_t i = 0;
  while (i < gpus.size() && gpus[i]["uuid"] != gpu["uuid"]) ++i;
  return i;
}

// Judge and runners each get a core of their own, as far from those of another GPU's bench as there
// are cores: a thread that migrates is late by more than the differences that are to be seen.
void pin_cores(size_t gpu, RunnerOptions& reference, RunnerOptions& candidate) {
  static const std::vector<int> cpus = allowed_cpus();
  constexpr size_t each = 3;
  if (is_functional() || cpus.size() < each + 1) return;
  const size_t first = 1 + gpu * each % (cpus.size() - each);
  pin_to(cpus[first]);
  reference.cpu = cpus[first + 1];
  candidate.cpu = cpus[first + 2];
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
  std::optional<double> single_call;  ///< seconds of the candidate's call that is alone in its unit
  Json anomalies = Json::array();     ///< of the blocks that count
  Json redone = Json::array();        ///< anomalies of attempts that were thrown away
  bool second_look = false;
  Json before, after;             ///< gpu_state()
  std::filesystem::path package;  ///< of AOTInductor

  Baseline baseline() const { return {.lane = lane, .package = package}; }
  /// Whether it starts processes of its own instead of taking over those of the chain before.
  bool own_pair() const { return pair > 1 || baseline().special(); }
  void start_again(const char* why) {
    Json redone_so_far = std::move(redone);
    redone_so_far.push_back(Json::array({why}));
    *this = Chain{.lane = lane, .mode = mode, .pair = pair, .package = package};
    redone = std::move(redone_so_far);
  }
  std::string name() const { return lane + (pair == 1 ? "" : "/pair:" + std::to_string(pair)); }
};

namespace {

// Whether a reference that takes so many times its seconds has been slowed on purpose. Clocks that
// the power limit lowers come to a tenth. (On the CPU the machine's other work is in all times.)
bool is_slowed(double times, double seconds) {
  constexpr double slack = 1.2, slack_seconds = 100e-6;
  return !is_functional() && times > slack && (times - 1) * seconds > slack_seconds;
}

// Other GPU processes than the judge and its two runners.
bool is_busy(const Json& state) {
  return state.is_object() && state["processes"].is_number() && state["processes"] > 3;
}

Json find_anomalies(const Pairing& pairing, const Json& before, const Json& after) {
  Json found = Json::array();
  if (is_functional()) return found;
  if (drifts(pairing.log_ratios())) found.push_back("drift");
  if (scatters(pairing.log_ratios())) found.push_back("bimodal");
  if (is_busy(before) || is_busy(after)) found.push_back("busy");
  if (after.is_object() && !after["throttle"].empty()) found.push_back("throttle");
  return found;
}

}  // namespace

Lanes::Lanes(const Task& task, const CandidateEntry& entry, const ProgramOptions& options)
    : task_(task),
      entry_(entry),
      options_(options),
      sizes_(is_functional() ? task.smoke : task.full),
      gpu_(own_gpu()) {
  if (!gpu_.is_null()) {
    gpu_position_ = position(gpu_, read_environment(entry.build_dir).at("gpus"));
    const std::filesystem::path peaks = peaks_file(entry.build_dir, gpu_["uuid"]);
    if (std::filesystem::exists(peaks)) peaks_ = read_peaks(peaks);
  }
  chains_.push_back(std::make_unique<Chain>(Chain{"eager", LaunchMode::stream, 1}));
  chains_.push_back(std::make_unique<Chain>(Chain{"graph", LaunchMode::graph, 1}));
  for (int pair = 2; pair <= pairs && !is_functional(); ++pair) {
    chains_.push_back(std::make_unique<Chain>(Chain{"eager", LaunchMode::stream, pair}));
  }
  for (const std::string& lane : entry.lanes) {
    if (!Baseline{.lane = lane}.special()) continue;
    chains_.push_back(std::make_unique<Chain>(Chain{lane, LaunchMode::graph, 1}));
    if (lane == "aoti") chains_.back()->package = package_of(entry, options.contract);
  }
}

Lanes::~Lanes() = default;

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

// @return "", or why the reference of a special baseline cannot start
std::string Lanes::start_pair(const Chain& chain) {
  // 8 us of the judge's own jitter are 0.5 % of a unit.
  const Duel::UnitSize unit = is_functional() ? Duel::UnitSize{.seconds = 0, .calls = 2}
                                              : Duel::UnitSize{.seconds = 1.5e-3, .calls = 1};
  const std::string schedule = is_functional() ? "forward" : "";
  RunnerOptions reference = reference_runner(options_, chain.baseline());
  if (!options_.reference_module.empty()) {
    reference = candidate_runner(entry_, options_, schedule);
    reference.module = options_.reference_module;
    reference.who = "the reference module";
  }
  RunnerOptions candidate = candidate_runner(entry_, options_, schedule);
  pin_cores(gpu_position_, reference, candidate);
  {
    const auto phase = phases_.in("start");
    duel_.reset();  // one pair at a time: the last one's memory and cores are free for the next
    reference_.reset();
    candidate_.reset();
    reference_ = std::make_unique<RunnerSession>(reference, *memory_);
    candidate_ = std::make_unique<RunnerSession>(candidate, *memory_);
    if (std::string why = load_reference(chain); !why.empty()) return why;
    candidate_->load();
  }
  const OraclePlan plan = plan_oracle(task_, sizes_, memory_->available_bytes());
  duel_ = std::make_unique<Duel>(task_, sizes_, plan, options_.input_kind(), options_.seed(),
                                 *memory_, *reference_, *candidate_, unit, phases_, tolerances_);
  tolerances_ = duel_->tolerances();
  if (!chain.own_pair()) {
    const auto counting = phases_.in("oracle");
    work_ = duel_->work();
  }
  return "";
}

// Only what was made elsewhere may fail to load; the plain reference is the project's own.
std::string Lanes::load_reference(const Chain& chain) const {
  try {
    reference_->load();
  } catch (const std::exception& error) {
    if (chain.lane != "aoti") throw;
    return std::string("the AOTInductor package cannot be loaded: ") + error.what();
  }
  return "";
}

// An output that is right in less time than the device can move its bytes was made elsewhere or
// before.
void Lanes::check_speed(const Chain& chain) const {
  if (!peaks_) return;
  const double candidate_seconds = chain.pairing.candidate_seconds();
  const double limit = hard_floor(work_, static_cast<double>(chain.calls), *peaks_);
  constexpr double clock_slack = 0.97;
  if (candidate_seconds >= clock_slack * limit) return;
  throw Decided(Verdict::cheat, "a unit took " + std::to_string(1e3 * candidate_seconds) +
                                    " ms, but the device needs " + std::to_string(1e3 * limit) +
                                    " ms to move its bytes or do its arithmetic");
}

// A recorded call keeps its time, whoever else is in the unit, but for what starting costs. (On a
// stream a lone call also pays for its launches and for a memory pool that is emptied at each end.)
void Lanes::check_calls(const Chain& chain) const {
  if (!chain.single_call || chain.mode != LaunchMode::graph) return;
  constexpr double start_seconds = 10e-6, slack = 2;
  const double together = chain.pairing.candidate_seconds() / static_cast<double>(chain.calls);
  if (*chain.single_call <= slack * together + start_seconds) return;
  throw Decided(Verdict::cheat, "a call alone takes " + std::to_string(1e3 * *chain.single_call) +
                                    " ms, but one of " + std::to_string(chain.calls) + " only " +
                                    std::to_string(1e3 * together) +
                                    " ms: calls share work that each must do for itself");
}

// Work that is elsewhere than on the given stream is not ordered with what a user does next.
void Lanes::check_stream(const Chain& chain) const {
  constexpr double share = 0.5, slack_seconds = 200e-6;
  const double seconds = chain.pairing.candidate_seconds(), beside = duel_->beside_seconds();
  if (beside <= share * seconds + slack_seconds) return;
  throw Decided(Verdict::cheat,
                "of a unit of " + std::to_string(1e3 * seconds) + " ms " +
                    std::to_string(1e3 * beside) +
                    " ms came after the stream that launch() was given was done: was "
                    "everything launched on that stream?");
}

// The runner's own events are no witness against anybody else's clock, but an honest one's agree.
void Lanes::check_clocks(const Chain& chain) const {
  constexpr double slack = 1.1, slack_seconds = 300e-6;
  const double judge = chain.pairing.candidate_seconds(), own = duel_->stream_seconds();
  const bool too_long = own > slack * judge + slack_seconds;
  // On a stream, memory pools are emptied after the last event: with some GiB that takes 10-25 ms.
  const bool too_short = chain.mode == LaunchMode::graph && judge > slack * own + slack_seconds;
  if (!too_long && !too_short) return;
  throw Decided(Verdict::cheat, "a unit takes " + std::to_string(1e3 * judge) +
                                    " ms by the judge's clock, but " + std::to_string(1e3 * own) +
                                    " ms by events on its stream");
}

// The reference's unit that follows the candidate's shares the device with whatever the candidate
// has left running; the one before, after the judge's own work, does not.
void Lanes::check_reference(const Chain& chain) const {
  const double lag = reference_lag(chain.pairing.blocks());
  if (!is_slowed(lag, chain.pairing.reference_seconds())) return;
  throw Decided(Verdict::cheat, "the reference takes " + std::to_string(lag) +
                                    " times as long after the candidate's unit as before it: "
                                    "something of the candidate's is still running");
}

// A candidate that works behind its judge's back slows all units of the reference alike. When its
// process is gone, they show what they take without it.
// @return "", or how much the reference was slowed
std::string Lanes::end_pair(const std::vector<Chain*>& timed) {
  const int samples = is_functional() ? 1 : 3;
  std::string slowed;
  candidate_->end();
  printed_ += candidate_->output();
  // The last first, which is the graph: its memory is free then for the units on the stream.
  for (auto it = timed.rbegin(); it != timed.rend(); ++it) {
    const Chain* chain = *it;
    const double alone = duel_->reference_alone(chain->mode, samples);
    const double slower = chain->pairing.reference_seconds() / alone;
    if (chain->pair == 1) report_[chain->lane]["reference_beside"] = slower;
    if (is_slowed(slower, alone)) slowed = std::to_string(slower);
  }
  duel_.reset();
  return slowed;
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
    }
    if (timed.empty()) return;
    const std::string slowed = end_pair(timed);
    if (slowed.empty()) return;
    if (attempt == attempts) {
      throw Decided(Verdict::cheat,
                    "the reference takes " + slowed +
                        " times as long beside the candidate as without it: something of the "
                        "candidate's runs when it is not its turn");
    }
    for (Chain* chain : timed) chain->start_again("beside");
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
  std::string why = why_no_baseline(chain);
  if (why.empty() && (duel_ == nullptr || chain.own_pair())) why = start_pair(chain);
  if (why.empty()) why = duel_->select(chain.mode);
  if (!why.empty()) {
    missing_[chain.lane] = why;
    return false;
  }
  run_blocks(chain);
  const bool undecided = speedup_verdict(chain.pairing.interval(), 1.0) == "UNDECIDED";
  if (undecided && chain.pair == 1 && !is_functional()) {
    if (!chain.anomalies.empty()) chain.redone.push_back(chain.anomalies);
    chain.pairing = Pairing(longer(policy(chain.pair)));
    chain.second_look = true;
    run_blocks(chain);
  }
  if (chain.pair == 1 && chain.calls > 1) chain.single_call = duel_->single_call();
  // On the CPU the machine's other work is in all times.
  if (is_functional()) return true;
  check_stream(chain);
  check_clocks(chain);
  check_reference(chain);
  check_speed(chain);
  check_calls(chain);
  return true;
}

// Blocks until the pairing has enough. What looks disturbed is done again, three times at most, and
// what was thrown away is on record.
void Lanes::run_blocks(Chain& chain) const {
  constexpr int attempts = 4;
  const Pairing fresh = chain.pairing;
  for (int attempt = 1;; ++attempt) {
    chain.before = gpu_state();
    duel_->restart_clocks();
    while (!chain.pairing.converged()) chain.pairing.add(duel_->block());
    chain.after = gpu_state();
    chain.calls = duel_->calls_per_unit();
    chain.anomalies = find_anomalies(chain.pairing, chain.before, chain.after);
    if (chain.anomalies.empty() || attempt == attempts) return;
    chain.redone.push_back(chain.anomalies);
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
    if ((*first)->pair == 1 || pool_wanted()) run_pair({first, end});
    first = end;
  }
  check_lanes();
  pool();
}

// Recording only takes away what launching costs.
void Lanes::check_lanes() const {
  if (is_functional() || !report_.contains("graph")) return;
  constexpr double slack = 0.7, start_ms = 2e-3;
  const double stream = report_["eager"]["candidate_ms"], graph = report_["graph"]["candidate_ms"];
  if (stream >= slack * graph - start_ms) return;
  throw Decided(Verdict::cheat, "a call takes " + std::to_string(stream) + " ms on a stream, but " +
                                    std::to_string(graph) +
                                    " ms recorded as a graph: calls share work on the stream");
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
          {"reference_lag", reference_lag(pairing.blocks())},
          {"reference_beside", nullptr},  // end_pair() knows
          {"single_call_ms", chain.single_call ? Json(1e3 * *chain.single_call) : Json()},
          {"anomalies", chain.anomalies},
          {"redone", chain.redone},
          {"second_look", chain.second_look},
          {"gpu_before", chain.before},
          {"gpu_after", chain.after},
          {"mode", chain.mode == LaunchMode::graph ? "graph" : "stream"},
          {"verdict", verdicts(interval)}};
}

// The pooled estimate replaces the first pair's: the mean of the pairs' medians on the log scale.
void Lanes::pool() {
  std::vector<double> logs;
  Json speedups = Json::array();
  Json& eager = report_["eager"];
  for (const auto& chain : chains_) {
    if (chain->mode != LaunchMode::stream || chain->pairing.blocks().empty()) continue;
    logs.push_back(std::log(chain->pairing.speedup()));
    speedups.push_back(chain->pairing.speedup());
    if (chain->pair == 1) continue;
    for (const Json& why : chain->redone) eager["redone"].push_back(why);
    for (const Json& seen : chain->anomalies) eager["anomalies"].push_back(seen);
  }
  if (logs.size() < 2) return;
  const Interval log_interval = mean_interval(logs, confidence);
  const Interval interval{std::exp(log_interval.low), std::exp(log_interval.high)};
  eager["speedup"] = std::sqrt(std::exp(log_interval.low + log_interval.high));
  eager["ci_lo"] = interval.low;
  eager["ci_hi"] = interval.high;
  eager["pairs"] = logs.size();
  eager["pair_speedups"] = speedups;
  eager["verdict"] = verdicts(interval);
}

std::string Lanes::end() {
  if (reference_) reference_->end();
  if (candidate_ && duel_) {  // the last pair was not brought to its end
    candidate_->end();
    printed_ += candidate_->output();
  }
  return printed_;
}

}  // namespace kb
