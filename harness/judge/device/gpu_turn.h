// One judge at a time on each GPU, whoever starts it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kb {

/// Waits until no other judge of this build folder has the GPU that this process was given; then it
/// is this one's until it ends. CTest gives each GPU to two judges, so that the next one's program
/// loads meanwhile; those of other calls of CTest and those started by hand wait here, too.
/// @param build_dir the build folder, or one whose `bin` is a link to that of the build folder
/// @param uuids     of the machine's GPUs, so that each has one name, however it was given
/// @throws std::runtime_error if the build folder cannot hold a lock
void wait_for_gpu(const std::filesystem::path& build_dir, const std::vector<std::string>& uuids);
/// The same for all of the machine's GPUs.
void wait_for_all_gpus(const std::filesystem::path& build_dir,
                       const std::vector<std::string>& uuids);

}  // namespace kb
