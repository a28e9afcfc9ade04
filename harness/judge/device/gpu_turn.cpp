// By a lock on a file in the build folder, which ends with the process. Before CUDA opens anything,
// so that what this process holds on the device is gone when the lock is.
#include "judge/device/gpu_turn.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/file_lock.h"
#include "judge/device/gpu_choice.h"

namespace kb {
namespace {

void wait_for(const std::filesystem::path& build_dir, std::string gpu) {
  constexpr useconds_t between_tries_us = 5000;
  std::replace(gpu.begin(), gpu.end(), '/', '_');  // of a MIG slice
  // tools/judge has a folder for each kernel, with links.
  const std::filesystem::path folder = std::filesystem::canonical(build_dir / "bin").parent_path();
  bool told = false;
  const auto wait = [&] {
    if (!told) std::fprintf(stderr, "waiting for GPU %s, which another judge has\n", gpu.c_str());
    told = true;
    usleep(between_tries_us);
  };
  // Never given back: what this process holds on the device ends with it, too.
  static std::vector<FileLock*> turns;
  turns.push_back(new FileLock({folder / ("turn_" + gpu + ".lock")}, wait));
}

}  // namespace

void wait_for_gpu(const std::filesystem::path& build_dir, const std::vector<std::string>& uuids) {
  wait_for(build_dir, given_gpu(uuids));
}

void wait_for_all_gpus(const std::filesystem::path& build_dir,
                       const std::vector<std::string>& uuids) {
  for (const std::string& uuid : uuids) wait_for(build_dir, uuid);
}

}  // namespace kb
