// A GPU is known by UUID and driver; the number is raised when what is measured changes.
#include "device/peaks_file.h"

namespace kb {
namespace {

constexpr int schema = 2;

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

void keep_peaks(const std::filesystem::path& file, const Json& gpu, const Json& peaks) {
  replace_json(file, {{"schema", schema},
                      {"gpu", identity(gpu)},
                      {"name", gpu.at("name")},
                      {"time", utc_now()},
                      {"peaks", peaks}});
}

}  // namespace kb
