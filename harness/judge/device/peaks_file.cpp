// A GPU is known by UUID and driver; the number is raised when what is measured changes.
#include "judge/device/peaks_file.h"

#include <algorithm>
#include <stdexcept>

namespace kb {
namespace {

constexpr int schema = 3;

Json identity(const Json& gpu) { return {{"uuid", gpu.at("uuid")}, {"driver", gpu.at("driver")}}; }

}  // namespace

std::filesystem::path peaks_file(const std::filesystem::path& build_dir, const std::string& uuid) {
  return build_dir / "peaks" / (uuid + ".json");
}

bool has_peaks(const std::filesystem::path& file, const Json& gpu) {
  if (!std::filesystem::exists(file)) return false;
  const Json kept = read_json(file);
  return kept.value("schema", 0) == schema && kept.value("gpu", Json()) == identity(gpu);
}

bool all_peaks_known(const std::filesystem::path& build_dir) {
  const Json environment = read_json(build_dir / "env.json");
  const Json& gpus = environment.at("gpus");
  if (gpus.empty()) {
    throw std::runtime_error((build_dir / "env.json").string() +
                             " names no GPU: run ctest -R '^kb.env$' on a machine that has one");
  }
  return std::all_of(gpus.begin(), gpus.end(), [&](const Json& gpu) {
    return has_peaks(peaks_file(build_dir, gpu.at("uuid")), gpu);
  });
}

double memory_rate(const Json& peaks) {
  double fastest = 0;
  for (const char* kind : {"copy_bytes_per_s", "read_bytes_per_s", "write_bytes_per_s"}) {
    fastest = std::max(fastest, peaks.at(kind).get<double>());
  }
  return fastest;
}

void keep_peaks(const std::filesystem::path& file, const Json& gpu, const Json& peaks) {
  replace_json(file, {{"schema", schema},
                      {"gpu", identity(gpu)},
                      {"name", gpu.at("name")},
                      {"time", utc_now()},
                      {"peaks", peaks}});
}

}  // namespace kb
