// The clock of the multiprocessors, counted on the device.
#pragma once

#include <optional>

namespace kb {

/// MHz at this moment on the current device, counted by a kernel of some 60 us on the default
/// stream; none without a GPU. NVML tells what was set some time ago; this tells what a kernel
/// gets.
/// @throws std::runtime_error if the kernel cannot run
std::optional<double> sm_clock_mhz();

}  // namespace kb
