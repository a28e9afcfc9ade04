// One call: fill, poison, run, snapshot, look for damage, compute the oracle, compare, look again.
#include "judge/correctness.h"

#include <sys/random.h>

#include <chrono>
#include <sstream>

#include "judge/compare.h"
#include "result/verdict.h"

namespace kb {
namespace {

std::string describe_sizes(const Json& sizes) {
  std::string text;
  for (const auto& [name, value] : sizes.items()) {
    text += (text.empty() ? "" : ", ") + name + "=" + value.dump();
  }
  return text;
}

std::string describe_index(const std::vector<int64_t>& index) {
  std::string text = "[";
  for (size_t i = 0; i < index.size(); ++i) text += (i ? ", " : "") + std::to_string(index[i]);
  return text + "]";
}

std::string explain(const TensorSpec& spec, const Comparison& c, const std::string& set,
                    const Json& sizes) {
  const Worst& worst = *c.worst;
  std::ostringstream text;
  text.precision(7);
  text << spec.name << describe_index(worst.index) << " is ";
  if (worst.reason == "unwritten") {
    text << "not written";
  } else {
    text << worst.got;
  }
  text << " but must be " << worst.expected;
  text.precision(3);
  if (worst.bound > 0) text << " +- " << worst.bound;
  if (worst.reason == "integer") {
    text << "; " << 100 * c.error << " % of the elements are wrong";
  } else {
    text << "; relative error of the whole output " << c.error << ", allowed " << c.bound;
  }
  text << " (" << set << " sizes: " << describe_sizes(sizes) << ")";
  return text.str();
}

Json to_json(const TensorSpec& spec, const Comparison& c) {
  return {{"name", spec.name},
          {"shape", spec.shape},
          {"dtype", dtype_name(spec.dtype)},
          {"error", c.error},
          {"bound", c.bound},
          {"library_error", c.library_error},
          {"max_abs_error", c.max_abs_error},
          {"elements", c.elements}};
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
      rng_(make_rng(memory.device(), options.rng_seed)) {}

const SizeBytes& Correctness::sizes(const std::string& set) const {
  if (set == "smoke") return task_.smoke;
  if (set == "odd") return task_.odd;
  TORCH_CHECK(set == "full", "no size set is called '", set, "'; there are smoke, odd and full");
  return task_.full;
}

Json Correctness::check_set(RunnerSession& runner, const std::string& set, int iterations) {
  const auto start = std::chrono::steady_clock::now();
  Workload work(task_, sizes(set), 1, memory_);
  work.bind(runner);
  Json outputs = Json::array();
  for (int i = 0; i < iterations; ++i) {
    if (i == 0 || i == (iterations + 1) / 2) {
      work.refill_weights(options_.inputs, rng_);
      memory_.finish();
      runner.prepare();
    }
    work.refill_slot(0, options_.inputs, rng_);
    check_call(runner, work, set, outputs);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return {{"set", set},
          {"sizes", task_.fields.to_json(sizes(set))},
          {"iterations", iterations},
          {"outputs", outputs},
          {"seconds", took.count()}};
}

void Correctness::check_call(RunnerSession& runner, Workload& work, const std::string& set,
                             Json& outputs) {
  memory_.finish();
  runner.run(0, 1);
  const std::vector<at::Tensor> got = work.snapshot(0);
  work.check_guards(set);
  work.check_inputs(0, set);

  const std::vector<at::Tensor> given = work.arguments(0);
  const std::vector<at::Tensor> library = task_.reference(sizes(set), given);
  const std::vector<at::Tensor> oracle = task_.reference(sizes(set), in_fp64(given));
  for (size_t i = 0; i < work.outputs().size(); ++i) {
    const TensorSpec& spec = work.outputs()[i];
    TORCH_CHECK(oracle.at(i).sizes() == c10::IntArrayRef(spec.shape), task_.name, ": output '",
                spec.name, "' is declared with another shape than reference() returns");
    const Comparison c =
        spec.argument_of
            ? compare_argument(spec, got[i], oracle[i], work.input(spec.argument_of->input, 0))
            : compare_output(spec, got[i], oracle[i], tolerance_of(spec, library.at(i), oracle[i]));
    keep_worst(outputs, to_json(spec, c));
    if (c.worst) {
      throw Decided(Verdict::incorrect, explain(spec, c, set, task_.fields.to_json(sizes(set))),
                    {{"set", set},
                     {"output", spec.name},
                     {"index", c.worst->index},
                     {"expected", c.worst->expected},
                     {"got", c.worst->got},
                     {"bound", c.worst->bound},
                     {"reason", c.worst->reason}});
    }
  }
  const std::vector<at::Tensor> later = work.snapshot(0);
  for (size_t i = 0; i < got.size(); ++i) {
    if (!at::equal(later[i].reshape(-1).view(at::kByte), got[i].reshape(-1).view(at::kByte))) {
      throw Decided(Verdict::cheat,
                    "the output '" + work.outputs()[i].name +
                        "' changed after launch() had returned and the device was idle");
    }
  }
}

}  // namespace kb
