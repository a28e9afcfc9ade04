// Text as the preprocessed source of a candidate: what stands before a byte 1 is the device's view,
// what follows the host's. It is rewritten or refused.
#include <cstdint>
#include <string_view>

#include "cpu/cu2cpp/rewrite.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kb::cu2cpp;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t end = text.find('\1');
  try {
    Source source = tokenize(text.substr(0, end), "candidate.cu");
    refuse_unsupported_headers(source);
    if (end != std::string_view::npos) {
      const Source host = tokenize(text.substr(end + 1), "candidate.cu");
      refuse_unsupported_headers(host);
      merge_views(source, host);
    }
    refuse_unsupported_names(source);
    rewrite(source, true);
    render(source);
  } catch (const Unsupported&) {  // all else is a mistake
  }
  return 0;
}
