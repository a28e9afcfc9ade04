// One Google Benchmark per lane, one repetition per ABBA block, the judge's clock as manual time.
// The library's own JSON stands beside the result file and is readable by its tools/compare.py.
#include "judge/bench_program.h"

#include <ATen/core/grad_mode.h>
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>

#include "judge/duel.h"
#include "judge/precision.h"
#include "judge/program.h"
#include "judge/reference_runner.h"

namespace kb {
namespace {

// Functional timing only shows that the path works; its few blocks decide nothing.
PairingPolicy policy() {
  PairingPolicy policy;
  if (is_functional()) policy = {.min_blocks = 8, .max_blocks = 8, .max_seconds = 1};
  return policy;
}

constexpr double confidence = 0.99;

struct Lane {
  const char* name;
  LaunchMode mode;
};

std::vector<Lane> lanes() {
  if (is_functional()) return {{"eager", LaunchMode::stream}};
  return {{"eager", LaunchMode::stream}, {"graph", LaunchMode::graph}};
}

// All that the benchmarks of one program share; the library calls back into it.
struct Bench {
  const Task& task;
  ProgramOptions options;
  ResultFile file;
  std::unique_ptr<SharedMemory> memory = make_shared_memory();
  std::unique_ptr<RunnerSession> reference, candidate;
  std::unique_ptr<Duel> duel;
  std::optional<Decided> decided;
  Json lanes = Json::object();
  Json missing = Json::object();

  Bench(const Task& t, ProgramOptions o)
      : task(t), options(std::move(o)), file(find_candidate(options.manifest, options.candidate)) {}

  const SizeBytes& sizes() const { return is_functional() ? task.smoke : task.full; }
};

// Judge and runners each get a core of their own, as far from those of another GPU's bench as there
// are cores: a thread that migrates is late by more than the differences that are to be seen.
void pin_cores(RunnerOptions& reference, RunnerOptions& candidate) {
  const std::vector<int> cpus = allowed_cpus();
  constexpr size_t each = 3;
  if (is_functional() || cpus.size() < each + 1) return;
  const char* gpu = std::getenv("CTEST_RESOURCE_GROUP_0_GPUS");  // "id:1,slots:1"
  const size_t index = gpu != nullptr ? std::strtoul(gpu + std::strlen("id:"), nullptr, 10) : 0;
  const size_t first = 1 + index * each % (cpus.size() - each);
  pin_to(cpus[first]);
  reference.cpu = cpus[first + 1];
  candidate.cpu = cpus[first + 2];
}

void start_duel(Bench& bench) {
  constexpr double unit_seconds = 1.5e-3;
  RunnerOptions reference = reference_runner(bench.options);
  RunnerOptions candidate =
      candidate_runner(bench.file.entry(), bench.options, is_functional() ? "forward" : "");
  pin_cores(reference, candidate);
  bench.reference = std::make_unique<RunnerSession>(reference, *bench.memory);
  bench.candidate = std::make_unique<RunnerSession>(candidate, *bench.memory);
  bench.duel = std::make_unique<Duel>(bench.task, bench.sizes(), bench.options.input_kind(),
                                      bench.options.seed(), *bench.memory, *bench.reference,
                                      *bench.candidate, is_functional() ? 0.0 : unit_seconds);
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

// The chain of blocks of one lane; it outlasts the repetitions.
struct Chain {
  Lane lane;
  Pairing pairing{policy()};
  std::string missing;  ///< why this lane cannot be run
};

Json lane_report(const Bench& bench, const Chain& chain) {
  const Pairing& pairing = chain.pairing;
  const double calls = static_cast<double>(bench.duel->calls_per_unit());
  const Interval interval = pairing.interval();
  Json speedups = Json::array();
  for (const Block& block : pairing.blocks()) speedups.push_back(std::exp(block.log_ratio()));
  Json verdicts = Json::object();
  for (const auto& [text, p] :
       {std::pair{"0.5", 0.5}, {"0.8", 0.8}, {"1", 1.0}, {"1.5", 1.5}, {"2", 2.0}}) {
    verdicts[text] = speedup_verdict(interval, p);
  }
  return {{"reference_ms", 1e3 * pairing.reference_seconds() / calls},
          {"candidate_ms", 1e3 * pairing.candidate_seconds() / calls},
          {"speedup", pairing.speedup()},
          {"ci_lo", interval.low},
          {"ci_hi", interval.high},
          {"confidence", pairing.confidence()},
          {"blocks", pairing.blocks().size()},
          {"block_speedups", speedups},
          {"empty_unit_us",
           {{"reference", 1e6 * bench.duel->empty_reference()},
            {"candidate", 1e6 * bench.duel->empty_candidate()}}},
          {"calls_per_unit", bench.duel->calls_per_unit()},
          {"mode", chain.lane.mode == LaunchMode::graph ? "graph" : "stream"},
          {"verdict", verdicts}};
}

// One repetition: a block, or nothing once there are enough.
void repeat(benchmark::State& state, Bench& bench, Chain& chain) {
  try {
    if (!bench.decided && chain.pairing.blocks().empty() && chain.missing.empty()) {
      chain.missing = bench.duel->select(chain.lane.mode);
    }
    if (bench.decided) return skip(state, "decided");
    if (!chain.missing.empty()) return skip(state, chain.missing);
    if (chain.pairing.converged()) return skip(state, "converged");
    for ([[maybe_unused]] auto _ : state) {
      const Block block = bench.duel->block();
      chain.pairing.add(block);
      const auto calls = static_cast<double>(bench.duel->calls_per_unit());
      state.SetIterationTime((block.b1 + block.b2) / 2 / calls);
      state.counters["reference_us"] = 1e6 * (block.a1 + block.a2) / 2 / calls;
      state.counters["speedup"] = std::exp(block.log_ratio());
    }
    if (chain.pairing.converged()) bench.lanes[chain.lane.name] = lane_report(bench, chain);
  } catch (const Decided& decided) {
    bench.decided = decided;
    skip(state, "decided");
  }
}

// The blocks go to the JSON file; the console gets one line per lane at the end.
class Quiet final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

void run_benchmarks(Bench& bench, const std::string& program) {
  static const auto low = [](const std::vector<double>& v) {
    return signed_rank_interval(v, confidence).low;
  };
  static const auto high = [](const std::vector<double>& v) {
    return signed_rank_interval(v, confidence).high;
  };
  std::vector<std::unique_ptr<Chain>> chains;
  for (const Lane& lane : lanes()) {
    chains.push_back(std::make_unique<Chain>(Chain{lane}));
    Chain& chain = *chains.back();
    benchmark::RegisterBenchmark(
        (bench.options.candidate + "/" + lane.name).c_str(),
        [&bench, &chain](benchmark::State& state) { repeat(state, bench, chain); })
        ->UseManualTime()
        ->Iterations(1)
        ->Repetitions(policy().max_blocks)
        ->Unit(benchmark::kMicrosecond)
        ->ComputeStatistics("hl", hodges_lehmann)
        ->ComputeStatistics("ci_lo", low)
        ->ComputeStatistics("ci_hi", high);
  }
  std::filesystem::path json = bench.file.entry().result;
  json.replace_extension("bench.json");
  std::vector<std::string> arguments{program, "--benchmark_out=" + json.string(),
                                     "--benchmark_out_format=json"};
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  int argc = static_cast<int>(argv.size());
  benchmark::Initialize(&argc, argv.data());
  Quiet quiet;
  benchmark::RunSpecifiedBenchmarks(&quiet);
  for (const auto& chain : chains) {
    if (!chain->missing.empty()) bench.missing[chain->lane.name] = chain->missing;
  }
}

int finish(Bench& bench) {
  for (auto* runner : {&bench.reference, &bench.candidate}) {
    if (*runner) (*runner)->end();
  }
  if (bench.candidate) save_log(bench.file.entry(), "bench", bench.candidate->output());
  if (bench.decided) {
    bench.file.save("bench", to_string(bench.decided->verdict), bench.decided->what());
    std::printf("%s: %s: %s\n", bench.options.candidate.c_str(), to_string(bench.decided->verdict),
                bench.decided->what());
    return bench.decided->verdict == Verdict::skipped ? exit_skipped : 1;
  }
  Json timing = {{"functional", is_functional()},
                 {"sizes", is_functional() ? "smoke" : "full"},
                 {"lanes", bench.lanes},
                 {"missing_lanes", bench.missing}};
  bench.file.json()["timing"] = timing;
  const std::string evidence = bench.file.json()["evidence"];
  bench.file.save("bench", "pass", evidence);
  for (const auto& [lane, report] : bench.lanes.items()) {
    if (!report.is_object()) continue;
    std::printf("%s/%s: %.4f ms against %.4f ms: %.3fx [%.3f, %.3f]%s\n",
                bench.options.candidate.c_str(), lane.c_str(), report["candidate_ms"].get<double>(),
                report["reference_ms"].get<double>(), report["speedup"].get<double>(),
                report["ci_lo"].get<double>(), report["ci_hi"].get<double>(),
                is_functional() ? " (functional, not a GPU measurement)" : "");
    if (lane == "eager") {
      std::printf(
          "<CTestMeasurement type=\"numeric/double\" name=\"speedup\">%.6f</CTestMeasurement>\n",
          report["speedup"].get<double>());
    }
  }
  return 0;
}

int time_candidate(int argc, char** argv, const Task& task) {
  ProgramOptions options;
  CLI::App app("Times one candidate of " + task.name);
  options.add_to(app);
  CLI11_PARSE(app, argc, argv);

  own_descendants();
  const at::NoGradGuard no_grad;
  apply_precision(options.contract);
  Bench bench(task, options);
  bench.file.resume();
  const Json& verdict = bench.file.json()["verdict"];
  if (verdict != "pass") {
    std::printf("%s is not timed: its verdict is %s\n", options.candidate.c_str(),
                verdict.dump().c_str());
    return exit_skipped;
  }
  try {
    start_duel(bench);
  } catch (const Decided& decided) {
    bench.decided = decided;
  }
  if (!bench.decided) run_benchmarks(bench, argv[0]);
  return finish(bench);
}

}  // namespace

int bench_main(int argc, char** argv, const Task& task) {
  try {
    if (argc == 3 && std::strcmp(argv[1], serve_reference_flag) == 0) {
      serve_reference(task, argv[2]);
      return 0;
    }
    return time_candidate(argc, argv, task);
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << "\n";
    return 2;
  }
}

}  // namespace kb
