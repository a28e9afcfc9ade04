// kb_peaks: measures what this GPU does at best and writes peaks.json beside the manifest. Skips
// the measurement if the file is there for the same GPU and driver.
#include <CLI/CLI.hpp>
#include <iostream>

#include "device/gpu.h"
#include "device/peaks.h"
#include "result/files.h"

namespace kb {
namespace {

int run(const std::filesystem::path& manifest) {
  const std::filesystem::path file =
      std::filesystem::absolute(manifest).parent_path() / "peaks.json";
  const std::vector<Json> gpus = find_gpus();
  if (gpus.empty()) {
    std::cerr << "no GPU is visible: " << no_gpu_reason() << "\n";
    return 1;
  }
  const Json of = {{"uuid", gpus[0].at("uuid")}, {"driver", gpus[0].at("driver")}};
  if (std::filesystem::exists(file) && read_json(file).value("gpu", Json()) == of) {
    std::cout << file.string() << " is up to date\n";
    return 0;
  }
  replace_json(file, {{"schema", 1},
                      {"gpu", of},
                      {"name", gpus[0].at("name")},
                      {"time", utc_now()},
                      {"peaks", measure_peaks()}});
  std::cout << read_text(file);
  return 0;
}

}  // namespace
}  // namespace kb

int main(int argc, char** argv) {
  CLI::App app("Measures the peaks of this GPU into peaks.json");
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
