// A chain is one benchmark: a lane on one pair of processes. Its blocks outlast the library's
// repetitions.
#include "judge/lanes.h"

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "judge/reference_runner.h"

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
    policy.max_blocks = policy.min_blocks;  // the spread between pairs decides, not that within one
  }
  return policy;
}

// Judge and runners each get a core of their own, as far from those of another GPU's bench as there
// are cores: a thread that migrates is late by more than the differences that are to be seen.
void pin_cores(RunnerOptions& reference, RunnerOptions& candidate) {
  static const std::vector<int> cpus = allowed_cpus();
  constexpr size_t each = 3;
  if (is_functional() || cpus.size() < each + 1) return;
  const char* gpu = std::getenv("CTEST_RESOURCE_GROUP_0_GPUS");  // "id:1,slots:1"
  const size_t index = gpu != nullptr ? std::strtoul(gpu + std::strlen("id:"), nullptr, 10) : 0;
  const size_t first = 1 + index * each % (cpus.size() - each);
  pin_to(cpus[first]);
  reference.cpu = cpus[first + 1];
  candidate.cpu = cpus[first + 2];
}

// Newer releases can skip without calling it an error.
template <class State>
void skip(State& state, const std::string& why) {
  if constexpr (requires { state.SkipWithMessage(why); }) {
    state.SkipWithMessage(why);
  } else {
    state.SkipWithError(why.c_str());
  }
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
  return {.bytes_per_second = peaks.at("copy_bytes_per_s"),
          .flops_per_second = peaks.at("fp32_flops_per_s"),
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
  std::string missing;  ///< why it was not run

  std::string name() const { return lane + (pair == 1 ? "" : "/pair:" + std::to_string(pair)); }
};

Lanes::Lanes(const Task& task, const CandidateEntry& entry, const ProgramOptions& options)
    : task_(task), entry_(entry), options_(options) {
  const std::filesystem::path peaks = entry.build_dir / "peaks.json";
  if (!is_functional() && std::filesystem::exists(peaks)) peaks_ = read_peaks(peaks);
  chains_.push_back(std::make_unique<Chain>(Chain{"eager", LaunchMode::stream, 1}));
  if (is_functional()) return;
  chains_.push_back(std::make_unique<Chain>(Chain{"graph", LaunchMode::graph, 1}));
  for (int pair = 2; pair <= pairs; ++pair) {
    chains_.push_back(std::make_unique<Chain>(Chain{"eager", LaunchMode::stream, pair}));
  }
}

Lanes::~Lanes() = default;

void Lanes::start_pair() {
  constexpr double unit_seconds = 1.5e-3;  // 8 us of the judge's own jitter are 0.5 % of it
  const std::string schedule = is_functional() ? "forward" : "";
  RunnerOptions reference = reference_runner(options_);
  if (!options_.reference_module.empty()) {
    reference = candidate_runner(entry_, options_, schedule);
    reference.module = options_.reference_module;
    reference.who = "the reference module";
  }
  RunnerOptions candidate = candidate_runner(entry_, options_, schedule);
  pin_cores(reference, candidate);
  duel_.reset();
  reference_ = std::make_unique<RunnerSession>(reference, *memory_);
  candidate_ = std::make_unique<RunnerSession>(candidate, *memory_);
  duel_ = std::make_unique<Duel>(task_, is_functional() ? task_.smoke : task_.full,
                                 options_.input_kind(), options_.seed(), *memory_, *reference_,
                                 *candidate_, is_functional() ? 0.0 : unit_seconds);
  work_ = duel_->work();
}

// An output that is right in less time than the device can move its bytes was made elsewhere or
// before.
void Lanes::check_speed(double candidate_seconds) const {
  if (!peaks_) return;
  const auto calls = static_cast<double>(duel_->calls_per_unit());
  const double limit = hard_floor(work_, calls, *peaks_);
  constexpr double clock_slack = 0.97;
  if (candidate_seconds >= clock_slack * limit) return;
  throw Decided(Verdict::cheat, "a unit took " + std::to_string(1e3 * candidate_seconds) +
                                    " ms, but the device needs " + std::to_string(1e3 * limit) +
                                    " ms to move its bytes or do its arithmetic");
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

// Before a chain's first block: its pair of processes and its launch mode, or why there is none.
void Lanes::begin(Chain& chain) {
  if (chain.pair > 1 && !pool_wanted()) {
    chain.missing = "one pair is enough";
    return;
  }
  if (duel_ == nullptr || chain.pair > 1) start_pair();
  chain.missing = duel_->select(chain.mode);
  if (!chain.missing.empty()) missing_[chain.lane] = chain.missing;
}

bool Lanes::pool_wanted() const {
  if (!report_.contains("graph")) return true;
  const auto differs = [&](const char* arm) {
    const double stream = report_["eager"][arm], graph = report_["graph"][arm];
    return std::abs(std::log(stream / graph)) > same_time;
  };
  return differs("reference_ms") || differs("candidate_ms");
}

void Lanes::run(const std::string& program, const std::filesystem::path& json) {
  const auto repeat = [this](benchmark::State& state, Chain& chain) {
    try {
      if (!decided_ && chain.pairing.blocks().empty() && chain.missing.empty()) begin(chain);
      if (decided_) return skip(state, "decided");
      if (!chain.missing.empty()) return skip(state, chain.missing);
      if (chain.pairing.converged()) return skip(state, "converged");
      for ([[maybe_unused]] auto _ : state) {
        const Block block = duel_->block();
        chain.pairing.add(block);
        const auto calls = static_cast<double>(duel_->calls_per_unit());
        state.SetIterationTime((block.b1 + block.b2) / 2 / calls);
        state.counters["reference_us"] = 1e6 * (block.a1 + block.a2) / 2 / calls;
        state.counters["speedup"] = std::exp(block.log_ratio());
      }
      if (!chain.pairing.converged()) return;
      check_speed(chain.pairing.candidate_seconds());
      if (chain.pair == 1) report_[chain.lane] = describe(chain);
    } catch (const Decided& decided) {
      decided_ = decided;
      skip(state, "decided");
    }
  };
  for (const auto& chain : chains_) {
    benchmark::RegisterBenchmark(
        (entry_.name + "/" + chain->name()).c_str(),
        [&repeat, c = chain.get()](benchmark::State& state) { repeat(state, *c); })
        ->UseManualTime()
        ->Iterations(1)
        ->Repetitions(policy(chain->pair).max_blocks)
        ->Unit(benchmark::kMicrosecond)
        ->ComputeStatistics("hl", hodges_lehmann)
        ->ComputeStatistics("ci_lo", lower_bound)
        ->ComputeStatistics("ci_hi", upper_bound);
  }
  std::vector<std::string> arguments{program, "--benchmark_out=" + json.string(),
                                     "--benchmark_out_format=json"};
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  int argc = static_cast<int>(argv.size());
  benchmark::Initialize(&argc, argv.data());
  Quiet quiet;
  benchmark::RunSpecifiedBenchmarks(&quiet);
  if (decided_) throw *decided_;
  pool();
}

Json Lanes::describe(const Chain& chain) const {
  const Pairing& pairing = chain.pairing;
  const auto calls = static_cast<double>(duel_->calls_per_unit());
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
          {"calls_per_unit", duel_->calls_per_unit()},
          {"mode", chain.mode == LaunchMode::graph ? "graph" : "stream"},
          {"verdict", verdicts(interval)}};
}

// The pooled estimate replaces the first pair's: the mean of the pairs' medians on the log scale.
void Lanes::pool() {
  std::vector<double> logs;
  Json speedups = Json::array();
  for (const auto& chain : chains_) {
    if (chain->mode != LaunchMode::stream || chain->pairing.blocks().empty()) continue;
    logs.push_back(std::log(chain->pairing.speedup()));
    speedups.push_back(chain->pairing.speedup());
  }
  if (logs.size() < 2) return;
  Json& eager = report_["eager"];
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
  for (auto* runner : {&reference_, &candidate_}) {
    if (*runner) (*runner)->end();
  }
  return candidate_ ? candidate_->output() : "";
}

}  // namespace kb
