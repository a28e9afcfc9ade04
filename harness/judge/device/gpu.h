// The GPUs of this machine, as facts for results.
#pragma once

#include <string>
#include <vector>

#include "base/result/files.h"

namespace kb {

/// One object per visible GPU, in CUDA's order: name, uuid, capability, driver, cuda_runtime,
/// sm_count, l2_bytes, memory_bytes. Empty on the CPU backend and where there is no GPU.
std::vector<Json> find_gpus();

/// Why find_gpus() found none, in the runtime's words.
std::string no_gpu_reason();

}  // namespace kb
