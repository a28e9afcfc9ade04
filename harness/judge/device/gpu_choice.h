// Which GPU a process uses: the one that CTest's resource allocation gave its test.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace kb {

/// CTest's names of the GPUs with these UUIDs, which may hold lower-case letters, digits and _
/// only: "GPU-1a2b-..." becomes "gpu_1a2b_...". A single GPU is "0": whatever is visible (a MIG
/// slice cannot be named by the UUID that CUDA reports).
std::vector<std::string> resource_ids(const std::vector<std::string>& uuids);

/// CUDA_VISIBLE_DEVICES for a process that was given a GPU. An id made of digits is a position in
/// what was visible before.
/// @param resource CTEST_RESOURCE_GROUP_0_GPUS, such as "id:gpu_1a2b,slots:1"
/// @param visible  CUDA_VISIBLE_DEVICES as it was, if set
/// @throws std::runtime_error if the id names no GPU or more than one was given
std::string visible_devices(const std::string& resource, const std::optional<std::string>& visible);

/// The place of the first device that CUDA_VISIBLE_DEVICES names among GPUs with these UUIDs,
/// without asking CUDA: of an index the index, of a UUID, whole or its beginning, that GPU's place;
/// else 0.
size_t position_among(const std::vector<std::string>& uuids,
                      const std::optional<std::string>& visible);
/// The same for this process.
size_t position_of_given_gpu(const std::vector<std::string>& uuids);

/// The UUID, of these, of the first device that CUDA_VISIBLE_DEVICES names, by whatever name; of a
/// device that is not among them the name as it stands there.
std::string name_among(const std::vector<std::string>& uuids,
                       const std::optional<std::string>& visible);
/// The same for this process.
std::string given_gpu(const std::vector<std::string>& uuids);

/// Restricts this process and those it starts to the GPU that CTest gave to this test, if it gave
/// one. Before the first call of CUDA. @throws std::runtime_error as visible_devices()
void use_given_gpu();

}  // namespace kb
