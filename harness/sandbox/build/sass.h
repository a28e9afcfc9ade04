// What a kernel's machine code uses, from what `cuobjdump -sass` prints.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace kb {

/// Instructions of one kernel, counted where they stand, not as often as they run.
struct SassFacts {
  uint32_t tensor_core_instructions = 0;  ///< HMMA, IMMA, WGMMA's HGMMA, Blackwell's UTCHMMA, ...
  uint32_t vector_load_instructions = 0;  ///< global loads of 8 bytes or more per thread
};

/// Reads the listing line by line.
class SassReader {
 public:
  void take(std::string_view line);

  /// Facts by the kernel's symbol.
  const std::map<std::string, SassFacts>& kernels() const { return kernels_; }

 private:
  std::map<std::string, SassFacts> kernels_;
  SassFacts* current_ = nullptr;
};

}  // namespace kb
