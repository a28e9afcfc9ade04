// kb_peaks: measures what each visible GPU does at best and writes peaks/<UUID>.json beside the
// manifest. Skips a GPU whose file is there for the same driver.
#include <CLI/CLI.hpp>
#include <iostream>

#include "device/gpu.h"
#include "device/peaks.h"
#include "result/files.h"

namespace kb {
namespace {

void measure(const Json& gpu, int device, const std::filesystem::path& file) {
  const Json of = {{"uuid", gpu.at("uuid")}, {"driver", gpu.at("driver")}};
  constexpr int schema = 2;
  if (std::filesystem::exists(file)) {
    const Json old = read_json(file);
    if (old.value("schema", 0) == schema && old.value("gpu", Json()) == of) {
      std::cout << file.string() << " is up to date\n";
      return;
    }
  }
  replace_json(file, {{"schema", schema},
                      {"gpu", of},
                      {"name", gpu.at("name")},
                      {"time", utc_now()},
                      {"peaks", measure_peaks(device)}});
  std::cout << read_text(file);
}

int run(const std::filesystem::path& manifest) {
  const std::vector<Json> gpus = find_gpus();
  if (gpus.empty()) {
    std::cerr << "no GPU is visible: " << no_gpu_reason() << "\n";
    return 1;
  }
  const std::filesystem::path build_dir = std::filesystem::absolute(manifest).parent_path();
  for (size_t i = 0; i < gpus.size(); ++i) {
    measure(gpus[i], static_cast<int>(i), peaks_file(build_dir, gpus[i].at("uuid")));
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
  try {
    return kb::run(manifest);
  } catch (const std::exception& error) {
    std::cerr << "kb_peaks: " << error.what() << "\n";
    return 2;
  }
}
