// One call: fill, poison, run, snapshot, look for damage, compute the oracle, compare, look again.
#include "judge/programs/correctness.h"

#include <ATen/Parallel.h>
#include <sys/random.h>

#include <algorithm>
#include <chrono>
#include <sstream>

#include "base/result/verdict.h"
#include "judge/acceptance/canary.h"
#include "judge/acceptance/drawn_sizes.h"
#include "judge/acceptance/expectation.h"
#include "judge/acceptance/long_sizes.h"

namespace kb {
namespace {

std::string describe_sizes(const Json& sizes) {
  std::string text;
  for (const auto& [name, value] : sizes.items()) {
    text += (text.empty() ? "" : ", ") + name + "=" + value.dump();
  }
  return text;
}

std::string explain(const TensorSpec& spec, const Comparison& c, const std::string& set,
                    const Json& sizes) {
  return describe_worst(spec, c) + " (" + set + " sizes: " + describe_sizes(sizes) + ")";
}

Json to_json(const TensorSpec& spec, const Comparison& c) {
  return {{"name", spec.name},
          {"shape", spec.shape},
          {"dtype", dtype_name(spec.dtype)},
          {"error", c.error},
          {"bound", c.bound},
          {"library_error", c.torch_error},
          {"noisy_runs", c.noisy_runs},
          {"max_abs_error", c.max_abs_error},
          {"elements", c.elements}};
}

Json to_json(const std::vector<WrongElement>& elements) {
  Json pairs = Json::array();
  for (const WrongElement& e : elements) {
    pairs.push_back({{"index", e.index}, {"got", e.got}, {"expected", e.expected}});
  }
  return pairs;
}

// Keeps, over the calls of a set, the report of the call with the largest error.
void keep_worst(Json& reports, Json report) {
  for (Json& old : reports) {
    if (old["name"] != report["name"]) continue;
    report["elements"] = report["elements"].get<int64_t>() + old["elements"].get<int64_t>();
    if (old["error"] > report["error"]) {
      old["elements"] = report["elements"];
    } else {
      old = std::move(report);
    }
    return;
  }
  reports.push_back(std::move(report));
}

// Sizes are tried with small tensors on the CPU, of which judges of other GPUs need all cores.
template <class Work>
auto on_one_thread(Work work) {
  struct Threads {
    const int before = at::get_num_threads();
    Threads() { at::set_num_threads(1); }
    ~Threads() { at::set_num_threads(before); }
  } threads;
  return work();
}

}  // namespace

uint64_t random_seed() {
  uint64_t seed = 0;
  TORCH_CHECK(getrandom(&seed, sizeof seed, 0) == sizeof seed, "the kernel gave no random bytes");
  return seed;
}

Correctness::Correctness(const Task& task, SharedMemory& memory, CorrectnessOptions options)
    : task_(task),
      memory_(memory),
      options_(options),
      rng_(make_rng(memory.device(), options.rng_seed)),
      host_rng_(make_rng(at::kCPU, options.rng_seed)),
      drawn_(on_one_thread([&] { return draw_sizes(task, host_rng_); }).value_or(task.smoke)),
      several_(task.smoke) {}

const SizeBytes& Correctness::sizes(const std::string& set) const {
  if (set == "smoke") return task_.smoke;
  if (set == "odd") return task_.odd;
  if (set == "drawn") return drawn_;
  if (set == "redrawn" || set == "long") return several_;
  TORCH_CHECK(set == "full" || set.starts_with("full@"), "no size set is called '", set,
              "'; there are smoke, odd, drawn, redrawn, long and full");
  return task_.full;
}

Json Correctness::check_set(RunnerSession& runner, const std::string& set, int iterations,
                            bool mixed, const OraclePlan& plan) {
  const auto start = std::chrono::steady_clock::now();
  Workload work(task_, sizes(set), 1, memory_);
  work.bind(runner);
  Json outputs = Json::array();
  for (int i = 0; i < iterations; ++i) {
    draw(runner, work, i);
    check_call(runner, work, set, plan, outputs);
  }
  const bool small = set == "smoke" || set == "drawn";
  const Json canary = small ? check_canary(runner, work, set) : Json();
  const Json mixes = mixed ? check_mixes(runner, work, set, plan) : Json();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return {{"set", set},
          {"sizes", task_.fields.to_json(sizes(set))},
          {"iterations", iterations},
          {"outputs", outputs},
          {"canary", canary},
          {"mixes", mixes},
          {"oracle_sliced_along", plan.slicing ? Json(plan.slicing->field()) : Json()},
          {"seconds", took.count()}};
}

std::vector<Family> Correctness::choose_families() {
  constexpr size_t some = 3;
  std::vector<Family> chosen = families();
  if (weights_read(task_) < weights_of_network) return chosen;
  const at::Tensor order = at::randperm(static_cast<int64_t>(chosen.size()), host_rng_, at::kLong);
  std::vector<Family> sample;
  for (size_t i = 0; i < some; ++i) sample.push_back(chosen.at(order[i].item<int64_t>()));
  return sample;
}

Json Correctness::check_families(RunnerSession& runner) {
  const auto start = std::chrono::steady_clock::now();
  const std::string set = "smoke";
  Workload work(task_, sizes(set), 1, memory_);
  work.bind(runner);
  Json judged = Json::array(), left_out = Json::array();
  const auto judge = [&](const std::string& name) {
    Expectation right(task_, sizes(set), work.arguments(0), next_noise_seed());
    if (right.says_something()) {
      const std::vector<at::Tensor> got = call(runner, work, set);
      for (size_t i = 0; i < got.size(); ++i) {
        const Comparison c = right.compare(i, got[i]);
        if (c.worst) decide_incorrect(work.outputs()[i], c, set, "; inputs: " + name);
      }
    }
    (right.says_something() ? judged : left_out).push_back(name);
    return right.says_something();
  };
  draw_weights(runner, work, 1);
  const std::vector<TensorSpec> specs = task_.tensors(sizes(set));
  if (std::any_of(specs.begin(), specs.end(), takes_families)) {
    for (const Family& family : choose_families()) {
      work.refill_slot(0, family, rng_);
      if (judge(family.name) && family.fill) held_.push_back(family);
    }
  }
  if (weights_read(task_) >= weights_of_network) {
    for (const WeightFamily& family : weight_families()) {
      draw_weights(runner, work, family.scale);
      work.refill_slot(0, InputKind::standard, rng_);
      judge(family.name);
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return {{"set", "families"},
          {"sizes", task_.fields.to_json(sizes(set))},
          {"families", judged},
          {"left_out", left_out},
          {"seconds", took.count()}};
}

std::vector<std::pair<std::string, SizeBytes>> Correctness::choose_sizes(const std::string& set) {
  std::vector<std::pair<std::string, SizeBytes>> chosen;
  if (set == "long") {
    for (LongSizes& one : draw_long_sizes(task_, host_rng_)) {
      chosen.emplace_back(std::move(one.field), std::move(one.sizes));
    }
  } else {
    constexpr int draws = 2;
    for (int i = 0; i < draws; ++i) {
      if (auto sizes = draw_sizes(task_, host_rng_)) chosen.emplace_back("", *std::move(sizes));
    }
  }
  return chosen;
}

Json Correctness::check_calls(RunnerSession& runner, const std::string& set) {
  const auto start = std::chrono::steady_clock::now();
  Json outputs = Json::array(), calls = Json::array();
  for (const auto& [name, sizes] : on_one_thread([&] { return choose_sizes(set); })) {
    several_ = sizes;
    Workload work(task_, sizes, 1, memory_);
    work.bind(runner);
    work.refill_weights(options_.inputs, rng_);
    memory_.finish();
    runner.call_prepare();
    work.refill_slot(0, options_.inputs, rng_);
    check_call(runner, work, set, {}, outputs);
    Json call{{"sizes", task_.fields.to_json(sizes)}};
    if (!name.empty()) call["long"] = name;
    calls.push_back(std::move(call));
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return {{"set", set},
          {"sizes", nullptr},
          {"calls", calls},
          {"outputs", outputs},
          {"seconds", took.count()}};
}

std::vector<at::Tensor> Correctness::call(RunnerSession& runner, Workload& work,
                                          const std::string& set) {
  memory_.finish();
  runner.run(0, 1);
  std::vector<at::Tensor> got = work.snapshot(0);
  runner.inspect();
  work.check_guards(set);
  work.check_inputs(set);
  return got;
}

// A kernel that recognises the published sizes could be right for all families there and only
// there, so later sets end with two calls that have such values, too. The first call holds every
// family, sample after sample. The second holds them along another dimension, or one family alone:
// a reduction over samples would only see the largest values. Or it changes a network's weights.
// At full size honest sums of millions of floats decide what may come: no family that
// such sums lose, and no values of several families in one sum.
Json Correctness::check_mixes(RunnerSession& runner, Workload& work, const std::string& set,
                              const OraclePlan& plan) {
  Json reports = Json::array();
  const bool small = set == "odd" || set == "drawn";
  const std::vector<Family> held = small ? held_ : for_large_sizes(held_);
  if (held.empty()) return reports;
  const auto below = [this](int64_t end) {
    return at::randint(end, {1}, host_rng_, at::kLong).item<int64_t>();
  };
  const auto judge = [&](const Mix& mix) {
    reports.push_back(
        {{"families", mix.name}, {"judged", check_mix(runner, work, set, plan, mix)}});
  };
  const at::Tensor order = at::randperm(static_cast<int64_t>(held.size()), host_rng_, at::kLong);
  std::vector<Family> families;
  for (size_t i = 0; i < held.size(); ++i) families.push_back(held[order[i].item<int64_t>()]);
  const auto draw = [&](const Mix& mix) {
    draw_weights(runner, work, 1);
    work.refill_slot(0, mix, rng_);
    judge(mix);
  };
  const std::vector<TensorSpec> tensors = task_.tensors(sizes(set));
  draw(divide(families, 0, tensors));
  constexpr int64_t most_dimensions = 4;
  if (weights_read(task_) >= weights_of_network && below(2) == 0) {
    const std::vector<WeightFamily>& others = weight_families();
    const WeightFamily& family = others[below(static_cast<int64_t>(others.size()))];
    draw_weights(runner, work, family.scale);
    work.refill_slot(0, InputKind::standard, rng_);
    judge({.name = family.name});
  } else if (small && below(2) == 0) {
    draw(divide(families, 1 + below(most_dimensions), tensors));
  } else {
    draw(divide({families.back()}, 0, tensors));
  }
  return reports;
}

bool Correctness::check_mix(RunnerSession& runner, Workload& work, const std::string& set,
                            const OraclePlan& plan, const Mix& mix) {
  const std::vector<at::Tensor> got = on_host(call(runner, work, set), plan.on_host);
  Expectation right(task_, sizes(set), work.arguments(0), next_noise_seed(), plan, first_rows(mix));
  if (const auto found = judge_mix(right, mix, got)) {
    decide_incorrect(work.outputs()[found->wrong.output], found->wrong.comparison, set,
                     "; inputs: " + found->inputs);
  }
  return right.says_something();
}

// A kernel that keeps what it has computed as long as a sample of its operands is the same is wrong
// where a few others change. Where none can, as in a symmetric matrix, all do.
void Correctness::draw(RunnerSession& runner, Workload& work, int index) {
  constexpr int kinds = 3;
  constexpr int64_t few = 16;
  const bool few_weights = index % kinds == 2 && work.change_few_weights(few, rng_);
  if (index % kinds == 0) work.refill_weights(options_.inputs, rng_);
  if (index % kinds == 0 || few_weights) {
    memory_.finish();
    runner.call_prepare();
  }
  if (few_weights) {
    work.poison(0);
  } else if (index % kinds == 0 || !work.change_few_inputs(0, few, rng_)) {
    work.refill_slot(0, options_.inputs, rng_);
  }
}

void Correctness::draw_weights(RunnerSession& runner, Workload& work, double scale) {
  work.refill_weights(InputKind::standard, rng_);
  if (scale != 1) work.scale_weights(scale);
  memory_.finish();
  runner.call_prepare();
}

Json Correctness::check_canary(RunnerSession& runner, Workload& work, const std::string& set) {
  work.refill_weights(InputKind::standard, rng_);
  work.refill_slot(0, InputKind::standard, rng_);
  const auto canary = Canary::find(task_, sizes(set), work.arguments(0));
  if (!canary) return nullptr;
  Json operands = Json::array();
  for (size_t i = 0; i < canary->calls(); ++i) {
    work.assign(0, canary->arguments(i));
    memory_.finish();
    runner.call_prepare();
    const std::vector<at::Tensor> got = call(runner, work, set);
    const Expectation right(task_, sizes(set), work.arguments(0), next_noise_seed());
    for (size_t j = 0; j < got.size(); ++j) {
      const Comparison c = right.compare_integers(j, got[j]);
      if (c.worst) {
        decide_incorrect(work.outputs()[j], c, set, "; " + canary->describe(i));
      }
    }
    operands.push_back(canary->operand(i));
  }
  return {{"operands", operands}};
}

void Correctness::decide_incorrect(const TensorSpec& spec, const Comparison& c,
                                   const std::string& set, const std::string& circumstances) {
  throw Decided(Verdict::incorrect,
                explain(spec, c, set, task_.fields.to_json(sizes(set))) + circumstances,
                {{"set", set},
                 {"output", spec.name},
                 {"index", c.worst->index},
                 {"expected", c.worst->expected},
                 {"got", c.worst->got},
                 {"bound", c.worst->bound},
                 {"reason", c.worst->reason},
                 {"wrong", c.worst->all.count},
                 {"elements", c.elements},
                 {"where", c.worst->all.where},
                 {"first", to_json(c.worst->all.first)}});
}

void Correctness::check_call(RunnerSession& runner, Workload& work, const std::string& set,
                             const OraclePlan& plan, Json& outputs) {
  const std::vector<at::Tensor> got = on_host(call(runner, work, set), plan.on_host);
  Expectation right(task_, sizes(set), work.arguments(0), next_noise_seed(), plan);
  for (size_t i = 0; i < work.outputs().size(); ++i) {
    const TensorSpec& spec = work.outputs()[i];
    const Comparison c = right.compare(i, got[i]);
    keep_worst(outputs, to_json(spec, c));
    if (c.worst) decide_incorrect(spec, c, set, "");
  }
  const std::vector<at::Tensor> later = work.snapshot(0);
  for (size_t i = 0; i < got.size(); ++i) {
    if (!same_bits(later[i].to(got[i].device()), got[i])) {
      throw Decided(Verdict::cheat,
                    "the output '" + work.outputs()[i].name +
                        "' changed after launch() had returned and the device was idle");
    }
  }
}

}  // namespace kb
