// CUDA's syntax turned into calls of the CPU runtime (cudacpu/core.hpp).
#pragma once

#include <stdexcept>
#include <string>

#include "tokens.hpp"

namespace kb::cu2cpp {

/// The program uses something that the CPU backend does not have.
struct Unsupported : std::runtime_error {
  /// @param what  e.g. "inline PTX"
  Unsupported(const Source& source, int file, int line, const std::string& what);
  Unsupported(const Source& source, const Token& token, const std::string& what)
      : Unsupported(source, token.file, token.line, what) {}
};

/// Makes of the tokens with __CUDA_ARCH__ and those without one program in which device functions
/// are those of the first and host functions those of the second. Throws Unsupported where this
/// cannot be.
void merge_views(Source& device, const Source& host);

/// Rewrites kernels, launches and __shared__ declarations, and removes CUDA's keywords.
/// @param count_constants  __constant__ variables get sections that constant_bytes() counts
void rewrite(Source& source, bool count_constants);

/// Throws Unsupported for the first #include of a library that the backend does not have, not even
/// as an empty header. On machines with a CUDA toolkit those headers can be found.
void refuse_unsupported_headers(const Source& source);

/// Throws Unsupported for the first name of a CUDA feature that the backend does not have.
void refuse_unsupported_names(const Source& source);

/// The part of CUDA over which g++ failed with this message, or "": a header or an undeclared name
/// that can only be CUDA's.
std::string missing_feature(const std::string& message);

}  // namespace kb::cu2cpp
