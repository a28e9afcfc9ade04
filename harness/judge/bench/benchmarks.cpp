// A chain that the pilot does not satisfy is registered again with as many repetitions as it wants;
// the first of them are the pilot's.
#include "judge/bench/benchmarks.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "judge/timing/statistics.h"

namespace kb {

/// The runs of one chain, as they go to the table and to the file.
class Benchmarks::Kept final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& reported) override {
    for (const Run& run : reported) {
      runs.push_back(run);
      runs.back().statistics = nullptr;  // it belongs to the benchmark, which goes
    }
  }

  std::vector<Run> runs;
};

namespace {

// JSON knows no infinity, which the interval of a few blocks has.
bool has_interval(int blocks) {
  return signed_rank_depth(blocks, bench_confidence, Ranks::exact) > 0;
}

double lower_bound(const std::vector<double>& v) {
  return signed_rank_interval(v, bench_confidence).low;
}
double upper_bound(const std::vector<double>& v) {
  return signed_rank_interval(v, bench_confidence).high;
}

// --name, --name=value; a flag without a value is true.
bool takes(const std::string& flag, const std::string& name, std::string& value) {
  if (flag != name && !flag.starts_with(name + "=")) return false;
  value = flag == name ? "true" : flag.substr(name.size() + 1);
  return true;
}

bool is_true(const std::string& value) {
  return value == "true" || value == "yes" || value == "on" || value == "1";
}

// Every benchmark is registered for one run.
size_t run_registered(benchmark::BenchmarkReporter& reporter, const std::string& filter) {
  const size_t count = benchmark::RunSpecifiedBenchmarks(&reporter, filter);
  benchmark::ClearRegisteredBenchmarks();
  return count;
}

}  // namespace

Benchmarks::Benchmarks(std::string candidate, const std::string& program,
                       std::vector<std::string> flags)
    : candidate_(std::move(candidate)), program_(program) {
  // A file and a list are made of all lanes at once, and benchmarks run chain by chain.
  std::erase_if(flags, [&](const std::string& flag) {
    std::string value;
    if (takes(flag, "--benchmark_list_tests", value)) {
      list_ = is_true(value);
      return true;
    }
    if (takes(flag, "--benchmark_out", value)) {
      out_ = value;
      return true;
    }
    return false;
  });
  for (const std::string& flag : flags) {
    for (const char* fixed :
         {"dry_run", "repetitions", "enable_random_interleaving", "out_format"}) {
      std::string value;
      if (takes(flag, std::string("--benchmark_") + fixed, value)) {
        throw std::runtime_error(flag +
                                 " is not for this program: a lane has as many repetitions as "
                                 "its interval needs, in its own order, and its file is JSON");
      }
    }
  }
  std::vector<char*> argv{program_.data()};
  for (std::string& flag : flags) argv.push_back(flag.data());
  int argc = static_cast<int>(argv.size());
  benchmark::Initialize(&argc, argv.data());
  if (benchmark::ReportUnrecognizedArguments(argc, argv.data())) {
    throw std::runtime_error("see --help of Google Benchmark for its flags");
  }
}

Benchmarks::~Benchmarks() { benchmark::Shutdown(); }

bool Benchmarks::list(const std::vector<std::string>& lanes) const {
  if (!list_) return false;
  for (const std::string& lane : chosen(lanes)) std::printf("%s\n", name(lane).c_str());
  return true;
}

// Google Benchmark alone knows how it reads its filter.
std::vector<std::string> Benchmarks::chosen(const std::vector<std::string>& lanes) const {
  std::vector<std::string> left;
  for (const std::string& lane : lanes) {
    benchmark::RegisterBenchmark(name(lane).c_str(),
                                 [&left, &lane](benchmark::State& state) {
                                   left.push_back(lane);
                                   for ([[maybe_unused]] auto _ : state) state.SetIterationTime(1);
                                 })
        ->Iterations(1)
        ->UseManualTime();
  }
  Kept nobody;
  const std::string filter = benchmark::GetBenchmarkFilter();
  run_registered(nobody, filter);
  if (!left.empty()) return left;
  throw std::runtime_error("--benchmark_filter=" + filter +
                           " leaves no lane; --benchmark_list_tests shows them");
}

void Benchmarks::run(Chain& chain, const std::function<Abba()>& block) {
  const auto complete = [&] {
    return std::cmp_greater_equal(chain.estimate.blocks().size(), chain.estimate.wanted());
  };
  do repeat(chain, block);
  while (!complete());
}

void Benchmarks::repeat(Chain& chain, const std::function<Abba()>& block) {
  SpeedupEstimate& estimate = chain.estimate;
  const int repetitions = estimate.wanted();
  size_t next = 0;
  std::exception_ptr failure;
  auto* lane = benchmark::RegisterBenchmark(
                   name(chain.name()).c_str(),
                   [&](benchmark::State& state) {
                     for ([[maybe_unused]] auto _ : state) {
                       if (failure) return state.SkipWithError("an earlier block failed");
                       try {
                         if (next == estimate.blocks().size()) estimate.add(block());
                       } catch (...) {
                         failure = std::current_exception();
                         return state.SkipWithError("this block failed");
                       }
                       const Abba& timed = estimate.blocks()[next++];
                       state.SetIterationTime(chain.call(std::sqrt(timed.b1 * timed.b2)));
                       state.counters["reference_us"] =
                           1e6 * chain.call(std::sqrt(timed.a1 * timed.a2));
                       state.counters["speedup"] = std::exp(timed.log_ratio());
                     }
                   })
                   ->UseManualTime()
                   ->Iterations(1)
                   ->Repetitions(repetitions)
                   ->Unit(benchmark::kMicrosecond)
                   ->ComputeStatistics("hl", hodges_lehmann);
  if (has_interval(repetitions)) {
    lane->ComputeStatistics("ci_lo", lower_bound)->ComputeStatistics("ci_hi", upper_bound);
  }
  std::unique_ptr<Kept>& kept = kept_[chain.name()];
  kept = std::make_unique<Kept>();
  run_registered(*kept, "all");
  if (failure) std::rethrow_exception(failure);
}

// nullptr for a chain without blocks.
const Benchmarks::Kept* Benchmarks::kept(const Chain& chain) const {
  const auto found = kept_.find(chain.name());
  return found == kept_.end() || chain.estimate.blocks().empty() ? nullptr : found->second.get();
}

void Benchmarks::print(const std::vector<const Chain*>& chains) const {
  using Run = benchmark::BenchmarkReporter::Run;
  std::vector<Run> rows;
  for (const Chain* chain : chains) {
    const Kept* const of = kept(*chain);
    if (of == nullptr) continue;
    const bool single = of->runs.size() == 1;
    std::copy_if(of->runs.begin(), of->runs.end(), std::back_inserter(rows),
                 [&](const Run& run) { return single || run.run_type == Run::RT_Aggregate; });
  }
  benchmark::BenchmarkReporter::Context context;
  context.name_field_width = 0;  // Google Benchmark 1.7 leaves it to chance
  for (const Run& row : rows) {
    context.name_field_width = std::max(context.name_field_width, row.benchmark_name().size());
  }
  benchmark::BenchmarkReporter& table = *benchmark::CreateDefaultDisplayReporter();
  table.ReportContext(context);
  table.ReportRuns(rows);
  table.Finalize();
  std::cout << std::flush;
}

void Benchmarks::write(const std::vector<const Chain*>& chains,
                       const std::filesystem::path& json) const {
  const auto write_to = [&](const std::filesystem::path& path) {
    std::ofstream file(path);
    benchmark::JSONReporter reporter;
    reporter.SetOutputStream(&file);
    reporter.ReportContext({});
    for (const Chain* chain : chains) {
      if (const Kept* const of = kept(*chain)) reporter.ReportRuns(of->runs);
    }
    reporter.Finalize();
    if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
  };
  if (!json.empty()) {
    // Under another name until it is whole: an interrupted run must not leave half a file.
    const std::filesystem::path fresh = json.string() + ".tmp";
    write_to(fresh);
    std::filesystem::rename(fresh, json);
  }
  if (!out_.empty()) write_to(out_);
}

}  // namespace kb
