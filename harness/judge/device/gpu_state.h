// What NVML says about the GPU at this moment. Read only: clocks and limits are never changed.
#pragma once

#include <string>
#include <vector>

#include "base/result/files.h"

namespace kb {

/// {"sm_mhz", "memory_mhz", "temperature_c", "power_w", "throttle": [reasons], "processes",
/// "memory_used_bytes"} of the GPU that CUDA calls device 0; null where NVML is missing. Memory is
/// that of all processes, and what their allocators keep counts as used.
Json gpu_state();

}  // namespace kb
