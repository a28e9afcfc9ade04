// Text as the source of a candidate before any compiler has seen it.
#include "sandbox/build/source_text.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  kb::foreign_encoding(text);
  kb::line_directive(text);
  return 0;
}
