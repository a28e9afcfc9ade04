// In the build folder, which every call for that preset sees.
#include "judge/single/gpu_slots.h"

#include "base/result/files.h"

namespace kb {

namespace fs = std::filesystem;

GpuSlots gpu_slots(const fs::path& build_dir) {
  GpuSlots slots;
  const Json specification = read_json(build_dir / "gpus.json");
  for (const Json& gpu : specification.at("local").at(0).at("gpus")) {
    slots.ids.push_back(gpu.at("id"));
    slots.files.push_back(build_dir / ("gpu_" + slots.ids.back() + ".lock"));
  }
  return slots;
}

}  // namespace kb
