// kb_measure_peaks: measures what each visible GPU does at best, unless that is known. Started by
// kb_peaks.
#include <CLI/CLI.hpp>
#include <iostream>

#include "base/result/candidate_entry.h"
#include "judge/device/gpu.h"
#include "judge/device/gpu_turn.h"
#include "judge/device/peaks.h"
#include "judge/device/peaks_file.h"
#include "judge/programs/program.h"

namespace kb {
namespace {

int run(const std::filesystem::path& manifest) {
  const std::filesystem::path build_dir = std::filesystem::absolute(manifest).parent_path();
  wait_for_all_gpus(build_dir, scheduled_gpus(build_dir));  // next to a judge peaks come out low
  const std::vector<Json> gpus = find_gpus();
  if (gpus.empty()) {
    std::cerr << "no GPU is visible: " << no_gpu_reason() << "\n";
    return 1;
  }
  for (size_t i = 0; i < gpus.size(); ++i) {
    const std::filesystem::path file = peaks_file(build_dir, gpus[i].at("uuid"));
    if (has_peaks(file, gpus[i])) continue;
    keep_peaks(file, gpus[i], measure_peaks(static_cast<int>(i)));
    std::cout << read_text(file);
  }
  return 0;
}

}  // namespace
}  // namespace kb

int main(int argc, char** argv) {
  CLI::App app("Measures the peaks of every visible GPU into peaks/<UUID>.json");
  std::string manifest;
  app.add_option("--manifest", manifest, "manifest.json of the build tree")->required();
  CLI11_PARSE(app, argc, argv);
  return kb::guarded(argv[0], [&] { return kb::run(manifest); });
}
