// SHA-256 of memory and of files, so that neither kb_cc nor the judge needs OpenSSL.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace kb {

/// Incremental SHA-256 (FIPS 180-4).
class Sha256 {
 public:
  void update(const void* data, size_t bytes);

  /// The digest of everything given to update(), as 64 lower-case hex digits. Call once, last.
  std::string hex_digest();

 private:
  void compress(const uint8_t* block);

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> block_ = {};
  size_t filled_ = 0;
  uint64_t total_bytes_ = 0;
};

/// SHA-256 of a string as 64 hex digits.
std::string sha256_hex(std::string_view data);

/// SHA-256 of a file as 64 hex digits; nothing if the file cannot be read to its end.
std::optional<std::string> sha256_file(const std::filesystem::path& path);

}  // namespace kb
