// What NVML says about the GPU at this moment. Read only: clocks and limits are never changed.
#pragma once

#include <string>
#include <vector>

#include "result/files.h"

namespace kb {

/// {"sm_mhz", "memory_mhz", "temperature_c", "power_w", "throttle": [reasons], "processes"} of the
/// GPU that CUDA calls device 0; null where NVML is missing.
Json gpu_state();

}  // namespace kb
