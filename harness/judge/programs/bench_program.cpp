// Arguments, result file and console lines around the lanes.
#include "judge/programs/bench_program.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "base/result/verdict.h"
#include "base/sha256.h"
#include "judge/acceptance/families.h"
#include "judge/acceptance/memory.h"
#include "judge/acceptance/precision.h"
#include "judge/bench/benchmarks.h"
#include "judge/bench/lane_report.h"
#include "judge/bench/lanes.h"
#include "judge/device/gpu_choice.h"
#include "judge/device/gpu_turn.h"
#include "judge/programs/program.h"
#include "judge/session/reference_runner.h"

namespace kb {
namespace {

void print(const std::string& candidate, const Json& lanes) {
  for (const auto& [lane, report] : lanes.items()) {
    const double speedup = report["speedup"];
    std::printf("%s/%s: %.4f ms against %.4f ms: %.3fx [%.3f, %.3f]%s\n", candidate.c_str(),
                lane.c_str(), report["candidate_ms"].get<double>(),
                report["reference_ms"].get<double>(), speedup, report["ci_lo"].get<double>(),
                report["ci_hi"].get<double>(),
                times_count() ? "" : " (functional, not a GPU measurement)");
    if (lane != "eager") continue;
    std::printf(
        "<CTestMeasurement type=\"numeric/double\" name=\"speedup\">%.6f</CTestMeasurement>\n",
        speedup);
  }
}

// What the times above leave out.
void print_preparing(const std::string& candidate, const Json& preparing, const Json& work) {
  if (preparing.is_null()) return;
  std::printf("%s: prepare() took %.4f ms, untimed, and holds %.3f MB%s\n", candidate.c_str(),
              preparing["ms"].get<double>(), 1e-6 * preparing["bytes"].get<double>(),
              work["weights_alone"]["most"] ? "; most of this task depends on weights alone" : "");
}

int keep_verdict(ResultFile& file, const Decided& decided) {
  file.save("bench", to_string(decided.verdict), decided.what());
  std::printf("%s: %s: %s\n", file.entry().name.c_str(), to_string(decided.verdict),
              file.json().at("evidence").get<std::string>().c_str());
  return decided.verdict == Verdict::skipped ? exit_skipped : 1;
}

// Those with values of their own in which `.correct` has judged the candidate, for timed sizes.
std::vector<Family> judged_families(const Json& result) {
  std::vector<Family> found;
  if (!result.contains("correctness") || !result["correctness"].is_object()) return found;
  for (const Json& set : result["correctness"].value("sets", Json::array())) {
    const Json names = set.value("families", Json::array());
    for (const Family& family : families()) {
      if (family.fill && std::find(names.begin(), names.end(), family.name) != names.end()) {
        found.push_back(family);
      }
    }
  }
  return times_count() ? for_large_sizes(found) : found;
}

// One line, so that processes may write to the same file at the same time.
void append_report(const ProgramOptions& options, const CandidateEntry& entry, const Lanes& lanes) {
  const bool identical = !options.reference_module.empty() &&
                         file_sha256(options.reference_module) == file_sha256(entry.module);
  const Json gpu = own_gpu();
  Json line = {{"candidate", entry.name},
               {"identical", identical},
               {"reference", options.reference_module.empty()},
               {"gpu", gpu.is_null() ? gpu : gpu["uuid"]},
               {"time", utc_now()},
               {"wall_seconds", lanes.phases().seconds()},
               {"lanes", Json::object()}};
  for (const auto& [lane, report] : lanes.report().items()) {
    Json& out = line["lanes"][lane];
    for (const char* key :
         {"reference_ms", "candidate_ms", "speedup", "ci_lo", "ci_hi", "blocks", "pairs",
          "calls_per_unit", "reference_ready_us", "candidate_ready_us", "probe_us", "publishing_us",
          "reference_with_candidate", "reference_alone", "reference_control", "redone", "anomalies",
          "empty_unit_us", "sm_mhz"}) {
      out[key] = report.at(key);
    }
    out["verdict"] = report.at("verdict").at("1");
  }
  const std::filesystem::path& path = options.report;
  std::ofstream out(path, std::ios::app);
  out << line.dump() << "\n";
  if (!out.flush()) throw std::runtime_error("cannot write " + path.string());
}

void list_diagnostics(size_t) {
  for (const Diagnostic& d : diagnostics()) {
    std::printf("%-25s %-4s %s\n", d.name, d.unit, d.description);
  }
  throw CLI::Success();
}

// Takes Google Benchmark's flags out of the arguments.
std::vector<std::string> take_benchmark_flags(std::vector<char*>& arguments) {
  std::vector<std::string> flags;
  std::erase_if(arguments, [&](const char* argument) {
    const bool taken = std::string_view(argument).starts_with("--benchmark_");
    if (taken) flags.emplace_back(argument);
    return taken;
  });
  return flags;
}

// Reads what the step before has left. @throws std::runtime_error if that was about something else
bool is_to_be_timed(ResultFile& file, const ProgramOptions& options, const GivenWeights& weights) {
  file.resume();
  const std::string& candidate = options.candidate;
  const Json& verdict = file.json()["verdict"];
  if (verdict != "pass") {
    std::printf("%s is not timed: its verdict is %s\n", candidate.c_str(), verdict.dump().c_str());
    return false;
  }
  if (const Json& judged = file.json()["correctness"]["contract"]; judged != options.contract) {
    throw std::runtime_error(candidate + " was judged under the contract " + judged.dump() +
                             ", not " + options.contract + "; run its .correct step again");
  }
  if (file.json()["correctness"]["weights"] != to_json(weights)) {
    throw std::runtime_error(candidate +
                             " was judged with other weights; run its .correct step again");
  }
  return true;
}

int time_candidate(int argc, char** argv, const Task& declared) {
  std::vector<char*> arguments(argv, argv + argc);
  const std::vector<std::string> flags = take_benchmark_flags(arguments);
  ProgramOptions options;
  CLI::App app("Times one candidate of " + declared.name);
  app.footer(
      "Flags of Google Benchmark: --benchmark_list_tests, --benchmark_filter (what is timed is "
      "then "
      "printed and not kept), --benchmark_out, --benchmark_format and others");
  options.add_to(app);
  app.add_flag_function("--list-diagnostics", list_diagnostics,
                        "says what results record about a lane next to its times")
      ->trigger_on_parse();
  CLI11_PARSE(app, static_cast<int>(arguments.size()), arguments.data());
  ResultFile file(find_candidate(options.manifest, options.candidate));
  options.complete_from(file.entry());
  const FullSizes full(options.sizes);
  const at::NoGradGuard no_grad;
  const GivenWeights weights = options.with_given_weights(full.scaled(declared));
  const Task& task = weights.task;
  const std::vector<std::string> names = Lanes::names(file.entry());
  Benchmarks benchmarks(options.candidate, std::filesystem::path(argv[0]).filename(), flags);
  if (benchmarks.list(names)) return 0;
  const std::vector<std::string> chosen = benchmarks.chosen(names);
  options.apply_contract();
  if (!is_to_be_timed(file, options, weights)) return exit_skipped;
  std::filesystem::path json = file.entry().result;
  json.replace_extension("bench.json");
  const double loaded = process_seconds();
  if (times_count()) {
    wait_for_gpu(file.entry().build_dir, scheduled_gpus(file.entry().build_dir));
    // Another judge may have had it.
    if (!is_to_be_timed(file, options, weights)) return exit_skipped;
  }
  const double turn = process_seconds();
  Lanes lanes(task, file.entry(), options, chosen, judged_families(file.json()), benchmarks);
  lanes.phases().add("load", loaded);
  lanes.phases().add("start", process_seconds() - turn);
  const auto rest = lanes.phases().in("other");
  try {
    lanes.measure();
  } catch (const Decided& decided) {
    if (!options.report.empty()) throw;
    save_log(file.entry(), "bench", lanes.end());
    return keep_verdict(file, decided);
  }
  const std::string printed = lanes.end();
  benchmarks.print(lanes.chains());
  print(options.candidate, lanes.report());
  print_preparing(options.candidate, lanes.preparing(), lanes.work());
  const bool kept = options.report.empty() && chosen.size() == names.size();
  {
    const auto phase = lanes.phases().in("end");
    if (kept) save_log(file.entry(), "bench", printed);
    benchmarks.write(lanes.chains(), kept ? json : "");
  }
  if (!options.report.empty()) append_report(options, file.entry(), lanes);
  if (!kept) return 0;
  const Json timing = {{"functional", !times_count()},
                       {"contract", options.contract},
                       {"sizes", times_count() ? full.name(declared) : "smoke"},
                       {"lanes", lanes.report()},
                       {"missing_lanes", lanes.missing()},
                       {"speed_of_light", lanes.speed_of_light()},
                       {"work", lanes.work()},
                       {"prepare", lanes.preparing()},
                       {"wall_seconds", lanes.phases().seconds()}};
  file.json()["timing"] = timing;
  file.json()["machine"]["gpu"] = own_gpu();  // not always the one of the step before
  file.save("bench", "pass", file.json()["evidence"]);
  return 0;
}

}  // namespace

int bench_main(int argc, char** argv, const Task& task) {
  return guarded(argv[0], [&] {
    if (argc > 1 && std::strcmp(argv[1], serve_reference_flag) == 0) {
      serve_reference(task, {argv + 2, argv + argc});
      return 0;
    }
    own_descendants();
    use_given_gpu();
    return time_candidate(argc, argv, task);
  });
}

}  // namespace kb
