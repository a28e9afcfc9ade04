// The CPU backend uses no GPU.
#include "judge/device/sm_clock.h"

namespace kb {

std::optional<double> sm_clock_mhz() { return std::nullopt; }

}  // namespace kb
