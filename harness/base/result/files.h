// Files that judging reads and writes: atomic replacement, JSON with clear errors, hashes.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "base/files.h"  // read_text() is for all who include this file

namespace kb {

using Json = nlohmann::ordered_json;

/// The file as JSON. @throws std::runtime_error naming the file and the place of the mistake
Json read_json(const std::filesystem::path& path);

/// Replaces the file, once the new text is safely on disk, and makes its folder.
/// @throws std::runtime_error naming the file and the system's reason
void replace_text(const std::filesystem::path& path, const std::string& text);

/// replace_text() of the JSON, indented. Bytes that are not UTF-8 are replaced.
void replace_json(const std::filesystem::path& path, const Json& json);

/// SHA-256 in hex of a file's bytes. @throws std::runtime_error if it cannot be read
std::string file_sha256(const std::filesystem::path& path);

/// Now, as 2026-01-01T00:00:00Z.
std::string utc_now();

}  // namespace kb
