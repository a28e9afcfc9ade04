// One judge at a time on each GPU, whoever starts it.
#pragma once

#include <filesystem>

namespace kb {

/// Waits until no other judge of this build folder has the GPU that this process was given; then it
/// is this one's until it ends. CTest gives each GPU to two judges, so that the next one's program
/// loads meanwhile; those of other calls of CTest and those started by hand wait here, too.
/// @throws std::runtime_error if the build folder is not writable
void wait_for_gpu(const std::filesystem::path& build_dir);

}  // namespace kb
