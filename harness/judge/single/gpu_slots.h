// The files by whose locks several calls share GPUs: one kernel at a time on each.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kb {

/// The GPUs of gpus.json, by the names that CTest gives them, and the file to lock for each.
struct GpuSlots {
  std::vector<std::string> ids;
  std::vector<std::filesystem::path> files;
};
GpuSlots gpu_slots(const std::filesystem::path& build_dir);

}  // namespace kb
