// By a lock on a file in the build folder, which ends with the process.
#include "device/gpu_turn.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/file_lock.h"
#include "device/gpu_choice.h"

namespace kb {

void wait_for_gpu(const std::filesystem::path& build_dir) {
  constexpr useconds_t between_tries_us = 5000;
  std::string gpu = given_gpu();
  std::replace(gpu.begin(), gpu.end(), '/', '_');  // of a MIG slice
  bool told = false;
  const auto wait = [&] {
    if (!told) std::fprintf(stderr, "waiting for GPU %s, which another judge has\n", gpu.c_str());
    told = true;
    usleep(between_tries_us);
  };
  // Never given back: what this process holds on the device ends with it, too.
  [[maybe_unused]] static const auto* const turn =
      new FileLock({build_dir / ("turn_" + gpu + ".lock")}, wait);
}

}  // namespace kb
