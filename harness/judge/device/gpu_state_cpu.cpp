// The CPU backend uses no GPU.
#include "judge/device/gpu_state.h"

namespace kb {

Json gpu_state() { return nullptr; }

}  // namespace kb
