// What a call costs before its first operator: a reference of many weights that computes nothing,
// and a candidate that asks for every weight by name.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "kb/layers.h"
#include "kb/reference.h"
#include "sandbox/protocol/weight_index.h"

namespace {

using namespace kb;

struct Sizes {
  int64_t layers = 300;
  KB_FIELDS(layers)
};

struct Network {
  Scope net;
  Sizes s;
  std::vector<Linear> layers = repeat<Linear>(net["encoder"]["layer"], s.layers, 2, 2);
};

void launch(const Sizes&, const float*, const Weights&, float*, cudaStream_t) {}

Task synthetic() {
  return define<decltype(launch)>(
      "none",
      [](const Sizes& s) {
        return std::tuple{input<float>("x", {2}), weights<Network>(s), output<float>("y", {2})};
      },
      [](const Sizes&, const Tensor& x, const Network&) { return x; }, SizeSets<Sizes>{});
}

void call_reference(benchmark::State& state) {
  const Task task = synthetic();
  const SizeBytes sizes = size_bytes(Sizes{.layers = state.range(0) / 2});
  const std::vector<Tensor> given = task.example(sizes);
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(task.reference(sizes, given));
}
BENCHMARK(call_reference)->Arg(2)->Arg(62)->Arg(600);

void find_every_weight(benchmark::State& state) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < state.range(0); ++i) {
    names.push_back("encoder.layer." + std::to_string(i) + ".attention.output.dense.weight");
  }
  std::vector<Weight> table;
  for (const std::string& name : names) table.push_back({name.c_str(), nullptr, 0, {}});
  const WeightIndex index(table);
  const Weights weights = index.weights(table);
  for ([[maybe_unused]] auto _ : state) {
    for (const std::string& name : names) benchmark::DoNotOptimize(&weights.find(name.c_str()));
  }
}
BENCHMARK(find_every_weight)->Arg(62)->Arg(600);

}  // namespace

BENCHMARK_MAIN();
