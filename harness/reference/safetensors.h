// Tensors by name in a safetensors file: 8 bytes of header length, a JSON header, the data.
// Format: https://huggingface.co/docs/safetensors
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace kb {

/// @return contiguous CPU tensors by name. @throws std::runtime_error naming the file and what is
/// wrong
std::map<std::string, at::Tensor> read_safetensors(const std::filesystem::path& path);

/// @throws std::runtime_error naming the file if something else than a regular file stands there
void require_replaceable(const std::filesystem::path& path);

/// Replaces the file, or the one that a link names. @throws std::runtime_error naming the file
void write_safetensors(const std::filesystem::path& path,
                       const std::vector<std::pair<std::string, at::Tensor>>& tensors);

}  // namespace kb
