// One judge at a time on each GPU, whoever starts it.
#pragma once

#include <filesystem>

namespace kb {

/// Waits until no other judge of this build folder has the GPU that this process was given; then it
/// is this one's until it ends. CTest gives a GPU to one test at a time anyway; two calls of it,
/// one that leaves out its fixtures, or a program started by hand know nothing of one another.
/// @return the seconds it took
/// @throws std::runtime_error if the build folder is not writable
double wait_for_gpu(const std::filesystem::path& build_dir);

}  // namespace kb
