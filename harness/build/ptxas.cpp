// Parses the resource lines of ptxas; their wording has been stable from CUDA 9 to 13.
#include "build/ptxas.h"

#include <cstdio>
#include <cstdlib>

#include "build/symbol_rules.h"

namespace kb {
namespace {

// The text between two single quotes, starting at the `index`-th quote pair.
std::string_view quoted(std::string_view text, int index) {
  for (;; --index) {
    const size_t first = text.find('\'');
    if (first == std::string_view::npos) return {};
    text.remove_prefix(first + 1);
    const size_t last = text.find('\'');
    if (last == std::string_view::npos) return {};
    if (index == 0) return text.substr(0, last);
    text.remove_prefix(last + 1);
  }
}

// The number in front of `unit`, such as 12 for "Used 12 registers" and " registers".
uint64_t number_before(std::string_view text, std::string_view unit) {
  size_t end = text.find(unit);
  if (end == std::string_view::npos) return 0;
  size_t begin = end;
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
  return std::strtoull(std::string(text.substr(begin, end - begin)).c_str(), nullptr, 10);
}

}  // namespace

bool PtxasReader::take(std::string_view line) {
  constexpr std::string_view prefix = "ptxas info";
  if (!line.starts_with(prefix)) {
    if (!expects_frame_ || line.find(" bytes stack frame, ") == std::string_view::npos) {
      return false;
    }
    expects_frame_ = false;
    if (in_entry_ && !kernels_.empty()) {
      KernelResources& kernel = kernels_.back();
      kernel.stack_bytes = number_before(line, " bytes stack frame");
      kernel.spill_stores_bytes = number_before(line, " bytes spill stores");
      kernel.spill_loads_bytes = number_before(line, " bytes spill loads");
    }
    return true;
  }
  const size_t colon = line.find(": ", prefix.size());
  if (colon == std::string_view::npos) return false;
  const std::string_view text = line.substr(colon + 2);
  expects_frame_ = false;
  if (text.starts_with("Compiling entry function ")) {
    entry_ = quoted(text, 0);
    KernelResources kernel;
    kernel.kernel = demangled(entry_);
    kernel.arch = quoted(text, 1);
    kernels_.push_back(std::move(kernel));
    in_entry_ = true;
    return true;
  }
  if (text.starts_with("Function properties for ")) {
    // Properties of a called device function follow those of the kernel; they are not the kernel's.
    std::string_view name = text.substr(std::string_view("Function properties for ").size());
    if (name.starts_with('\'')) name = quoted(name, 0);
    in_entry_ = name == entry_;
    expects_frame_ = true;
    return true;
  }
  if (text.starts_with("Used ") && text.find(" registers") != std::string_view::npos) {
    if (!kernels_.empty()) {
      kernels_.back().registers = static_cast<uint32_t>(number_before(text, " registers"));
      kernels_.back().shared_bytes = number_before(text, " bytes smem");
    }
    return true;
  }
  return text.starts_with("Compile time = ") || text.find(" bytes gmem") != std::string_view::npos;
}

}  // namespace kb
