// The CPU backend uses no GPU, even if there is one.
#include "judge/device/gpu.h"

namespace kb {

std::vector<Json> find_gpus() { return {}; }

std::string no_gpu_reason() { return "this is the CPU backend"; }

}  // namespace kb
