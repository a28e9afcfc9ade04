// Parses the resource lines of ptxas; their wording has been stable from CUDA 9 to 13.
#include "sandbox/build/ptxas.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <functional>
#include <set>

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
    if (in_entry_) {
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
    is_open_ = begin_kernel(quoted(text, 0), quoted(text, 1));
    return true;
  }
  if (text.starts_with("Function properties for ")) {
    // Properties of a called device function follow those of the kernel; they are not the kernel's.
    std::string_view name = text.substr(std::string_view("Function properties for ").size());
    if (name.starts_with('\'')) name = quoted(name, 0);
    in_entry_ = is_open_ && name == kernels_.back().kernel;
    expects_frame_ = true;
    return true;
  }
  if (text.starts_with("Used ") && text.find(" registers") != std::string_view::npos) {
    if (is_open_) {
      kernels_.back().registers = static_cast<uint32_t>(number_before(text, " registers"));
      kernels_.back().shared_bytes = number_before(text, " bytes smem");
    }
    is_open_ = false;
    return true;
  }
  return text.starts_with("Compile time = ") || text.find(" bytes gmem") != std::string_view::npos;
}

bool PtxasReader::begin_kernel(std::string_view kernel, std::string_view arch) {
  const bool known = std::any_of(kernels_.begin(), kernels_.end(), [&](const auto& other) {
    return other.kernel == kernel && other.arch == arch;
  });
  if (known || kernels_.size() == most_kernels) return false;
  kernels_.emplace_back();
  kernels_.back().kernel = kernel;
  kernels_.back().arch = arch;
  return true;
}

void keep_named(std::string_view object, std::vector<KernelResources>* kernels) {
  std::set<std::string, std::less<>> missing;
  for (const KernelResources& kernel : *kernels) missing.insert(kernel.kernel);
  const auto in_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '.';
  };
  for (auto end = object.begin(); end != object.end();) {
    const auto start = std::find_if(end, object.end(), in_name);
    end = std::find_if_not(start, object.end(), in_name);
    const auto found = missing.find(std::string_view(start, end));
    if (start != end && found != missing.end()) missing.erase(found);
  }
  std::erase_if(*kernels, [&](const auto& kernel) { return missing.contains(kernel.kernel); });
}

}  // namespace kb
