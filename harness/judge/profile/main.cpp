// kb_profile: has Nsight Compute watch one call of a candidate that has passed, and adds what it
// saw to the candidate's result. A step of its own, after all timing.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "base/result/candidate_entry.h"
#include "base/result/verdict.h"
#include "base/supervise.h"
#include "judge/device/gpu_choice.h"
#include "judge/device/gpu_turn.h"
#include "judge/device/peaks_file.h"
#include "judge/profile/ncu_table.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

constexpr int limit_s = 600;
// Each is run some ten times over, once for each group of counters.
constexpr const char* most_launches = "1000";

struct Options {
  fs::path manifest;
  std::string candidate, ncu;
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

// The clocks stay what they are: a profile shows what the timer saw.
std::vector<std::string> command(const Options& options, const fs::path& table) {
  const fs::path profiled = fs::read_symlink("/proc/self/exe").parent_path() / "kb_profiled";
  return {options.ncu,
          "--csv",
          "--page",
          "raw",
          "--print-units",
          "base",
          "--clock-control",
          "none",
          "--profile-from-start",
          "off",
          "--target-processes",
          "application-only",
          "--launch-count",
          most_launches,
          "--metrics",
          joined(ncu_metrics()),
          "--force-overwrite",
          "--log-file",
          table,
          profiled,
          "--manifest",
          options.manifest,
          "--candidate",
          options.candidate};
}

Json known_peaks(const CandidateEntry& entry, const Json& result) {
  const Json& gpu = result.at("machine").value("gpu", Json());
  if (!gpu.is_object()) return nullptr;
  const fs::path file = peaks_file(entry.build_dir, gpu.at("uuid"));
  return has_peaks(file, gpu) ? read_json(file).at("peaks") : Json();
}

// @throws std::runtime_error if there is nothing to see, saying why
Json profile(const Options& options, const CandidateEntry& entry, const Json& peaks) {
  const fs::path folder = entry.build_dir / "profiles";
  fs::create_directories(folder);
  const fs::path table = folder / (entry.name + ".csv");
  fs::remove(table);
  Launch launch;
  launch.words = command(options, table);
  launch.temporary_directory = folder;
  launch.timeout_s = limit_s;
  launch.memory_bytes = launch.file_bytes = uint64_t{1} << 60;
  std::string said;
  const SignalRouter signals;
  const Outcome outcome =
      run_supervised(launch, signals, [&](std::string_view text) { said.append(text); });
  if (outcome.interrupted_by != 0) std::exit(128 + outcome.interrupted_by);
  if (outcome.timed_out)
    throw std::runtime_error("ncu took longer than " + std::to_string(limit_s) + " s");
  const std::string written = fs::exists(table) ? read_text(table) : "";
  if (outcome.exit_code == 0) return summarise_ncu(written, peaks);
  // What ncu says before it opens the file comes with the output.
  const std::string why = ncu_complaint(written + said);
  throw std::runtime_error(
      why.empty() ? "ncu ended with exit code " + std::to_string(outcome.exit_code) : why);
}

int add_profile(const Options& options) {
  ResultFile file(find_candidate(options.manifest, options.candidate));
  const CandidateEntry& entry = file.entry();
  if (entry.backend == "cuda") wait_for_gpu(entry.build_dir, scheduled_gpus(entry.build_dir));
  file.resume();
  Json& result = file.json();
  if (result["verdict"] != "pass") {
    std::printf("%s is not profiled: its verdict is %s\n", options.candidate.c_str(),
                result["verdict"].dump().c_str());
    return exit_skipped;
  }
  const auto save = [&](const Json& found) {
    result["profile"] = found;
    file.save(result["stage"], "pass", result["evidence"]);
  };
  try {
    Json found = profile(options, entry, known_peaks(entry, result));
    found["reason"] = nullptr;
    save(found);
    const Json& longest = found["kernels"][0];
    std::printf("%s: %zu kernels, %.3f ms; %s takes %.0f %% of it\n", options.candidate.c_str(),
                found["kernels"].size() + found["more_kernels"].get<size_t>(),
                found["ms"].get<double>(), longest["name"].get<std::string>().c_str(),
                1e2 * longest["share"].get<double>());
    return 0;
  } catch (const std::runtime_error& why) {
    save({{"reason", why.what()}});
    std::printf("%s has no profile: %s\n", options.candidate.c_str(), why.what());
    return exit_skipped;
  }
}

}  // namespace
}  // namespace kb

int main(int argc, char** argv) {
  CLI::App app("Adds what Nsight Compute sees of a candidate's kernels to its result");
  kb::Options options;
  app.add_option("--manifest", options.manifest)->required();
  app.add_option("--candidate", options.candidate)->required();
  app.add_option("--ncu", options.ncu, "Nsight Compute's program")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    kb::use_given_gpu();
    return kb::add_profile(options);
  } catch (const std::exception& error) {
    std::cerr << "kb_profile: " << error.what() << std::endl;
    return 2;
  }
}
