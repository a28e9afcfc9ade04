// Blocks are timed in pairs and until they agree, which no benchmark loop can do; Google Benchmark
// gets them afterwards, with the estimate and its interval as statistics of its own.
#include "bench/google_benchmark.h"

#include <benchmark/benchmark.h>

#include <cmath>

#include "timing/statistics.h"

namespace kb {
namespace {

// The blocks go to the JSON file; the console gets one line per lane from the program.
class Quiet final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

double lower_bound(const std::vector<double>& v) {
  return signed_rank_interval(v, bench_confidence).low;
}
double upper_bound(const std::vector<double>& v) {
  return signed_rank_interval(v, bench_confidence).high;
}

// JSON knows no infinity, which the interval of a few blocks has.
bool has_interval(const std::vector<Block>& blocks) {
  return std::isfinite(lower_bound(std::vector<double>(blocks.size())));
}

void add(const std::string& name, const Chain& chain) {
  const std::vector<Block>& blocks = chain.pairing.blocks();
  if (blocks.empty()) return;
  auto* lane = benchmark::RegisterBenchmark(
                   name.c_str(),
                   [&blocks, &chain, next = size_t{0}](benchmark::State& state) mutable {
                     for ([[maybe_unused]] auto _ : state) {
                       const Block& block = blocks.at(next++ % blocks.size());
                       state.SetIterationTime(chain.call((block.b1 + block.b2) / 2));
                       state.counters["reference_us"] = 1e6 * chain.call((block.a1 + block.a2) / 2);
                       state.counters["speedup"] = std::exp(block.log_ratio());
                     }
                   })
                   ->UseManualTime()
                   ->Iterations(1)
                   ->Repetitions(static_cast<int>(blocks.size()))
                   ->Unit(benchmark::kMicrosecond)
                   ->ComputeStatistics("hl", hodges_lehmann);
  if (!has_interval(blocks)) return;
  lane->ComputeStatistics("ci_lo", lower_bound)->ComputeStatistics("ci_hi", upper_bound);
}

}  // namespace

void write_benchmarks(const std::string& candidate, const std::vector<const Chain*>& chains,
                      const std::string& program, const std::filesystem::path& json) {
  for (const Chain* chain : chains) add(candidate + "/" + chain->name(), *chain);
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

}  // namespace kb
